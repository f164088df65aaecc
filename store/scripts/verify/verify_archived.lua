-- Verify the counts of archived articles, which only the SQL database has, in the hash `archived`.
-- requires: verify_prelude
-- from verify_prelude: report(where, found, expected, repair), reply (the next cursor, then four values of each finding)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       archived: how many articles are only in the SQL database, and their greatest values
-- ARGV  1-6 for prelude.lua: 3 now (unix milliseconds)   7 "repair" to repair what is wrong, else ""
--       8 "", as the key has only a kind and a partition   9 `serial` of `archived` when the caller has counted, or ""
--       10 and on: field, counted number, ...
-- Reply {"0", then of each finding: key with field or member, found value, expected value, "repaired" or ""}
--       | {"moved"} if articles have left Redis or came back since: count again
if (redis.call("HGET", KEY.archived, "serial") or "") ~= ARGV[9] then return {"moved"} end
for i = 10, #ARGV, 2 do
  local field, expected = ARGV[i], tonumber(ARGV[i + 1])
  local found = redis.call("HGET", KEY.archived, field)
  if tonumber(found or 0) ~= expected then
    report(KEY.archived .. " " .. field, found, expected, function()
      if expected == 0 then redis.call("HDEL", KEY.archived, field) end
      if expected ~= 0 then redis.call("HSET", KEY.archived, field, expected) end
    end)
  end
end
return reply
