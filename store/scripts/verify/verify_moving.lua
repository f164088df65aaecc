-- Verify articles that the database marks as archived: one that is in Redis, too, has to be in the set `moving`, so
-- that reads ignore what the database has of it.
-- requires: verify_prelude
-- from verify_prelude: report(where, found, expected, repair), reply (the next cursor, then four values of each finding)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       moving: articles about to leave Redis or just back: what the database has of them does not count
--       archived: how many articles are only in the SQL database, and their greatest values
-- ARGV  1-6 for prelude.lua: 3 now (unix milliseconds)   7 "repair" to repair what is wrong, else ""
--       8 "", as the key has only a kind and a partition   from 9 on: numbers
-- Reply {"0", then of each finding: key with field or member, found value, expected value, "repaired" or ""}
for i = 9, #ARGV do
  local number = ARGV[i]
  if redis.call("EXISTS", KEY.article .. number) == 1 and redis.call("SISMEMBER", KEY.moving, number) == 0 then
    report(KEY.moving .. " " .. number, nil, "there, as the article is in Redis again", function()
      redis.call("SADD", KEY.moving, number)
      redis.call("HINCRBY", KEY.archived, "marks", 1)  -- by this field reads notice that the database changes
    end)
  end
end
return reply
