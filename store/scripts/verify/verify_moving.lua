-- Verify articles that the database has as archived: one that is in Redis, too, is marked as moving.
-- requires: verify_prelude
-- from verify_prelude: report(where, found, expected, repair), reply (the next cursor, then four values of each finding)
-- ARGV  1-8 time, settings of the site, whether to repair, and a name: see verify_prelude.lua; the name is ""
--       from 9 on: numbers
-- Reply see verify_prelude.lua
for i = 9, #ARGV do
  local number = ARGV[i]
  if redis.call("EXISTS", KEY.article .. number) == 1 and redis.call("SISMEMBER", KEY.moving, number) == 0 then
    report(KEY.moving .. " " .. number, nil, "there, as the article is in Redis again", function()
      redis.call("SADD", KEY.moving, number)
      redis.call("HINCRBY", KEY.archived, "marks", 1)  -- reads see that the database changes
    end)
  end
end
return reply
