-- Read articles that Redis did not have a moment ago, and say of those that are still absent whether they are deleted.
-- KEYS  of partition p: 1 article:{p}: (an article number is appended)
--       2 moving:{p}, articles that are about to leave Redis or have come back
-- ARGV  numbers
-- Reply for each number {field, value, ...} | {"absent"}: the database may have it archived
--       | {"deleted"}: it was in Redis a moment ago, so what the database has of it does not count
local reply = {}
for i, number in ipairs(ARGV) do
  local flat = redis.call("HGETALL", KEYS[1] .. number)
  if not flat[1] then
    flat = {redis.call("SISMEMBER", KEYS[2], number) == 1 and "deleted" or "absent"}
  end
  reply[i] = flat
end
return reply
