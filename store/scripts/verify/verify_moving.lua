-- Verify articles that the database marks as archived: one that is in Redis, too, has to be in the set `moving`, so
-- that reads ignore what the database has of it.
-- requires: verify_prelude
-- from verify_prelude: report(where, found, expected, repair), reply (the next cursor, then four values of each finding)
-- KEY   this partition's keys by name; to some a number or a name is appended (see registry.py)
--       moving: articles about to leave Redis or just back: what the database has of them does not count
--       archived: how many articles are only in the SQL database, and their greatest values
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
