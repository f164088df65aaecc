-- Read articles with a digest of each, by which archive.lua sees whether it has changed since.
-- KEYS  1 article:{p}: (an article number is appended)
-- ARGV  numbers
-- Reply {digest, {field, value, ...}} for each number; without fields if there is no such article
local reply = {}
for i, number in ipairs(ARGV) do
  local flat = redis.call("HGETALL", KEYS[1] .. number)
  reply[i] = {redis.sha1hex(table.concat(flat, "\0")), flat}
end
return reply
