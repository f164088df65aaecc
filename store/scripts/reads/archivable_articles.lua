-- Read articles that may leave Redis, with a digest of each, by which archive.lua sees whether it has changed since.
-- KEYS  1 article:{p}:   2 flags:{p}:   3 tree:{p}:   4 heldedit:{p}: (an article number is appended to each)
-- ARGV  numbers
-- Reply {digest, {field, value, ...}} for each number; {} if there is no such article, or if it has comments, also
--       ones that are not shown, has notified users, is locked, is not visible, has flags, or an edit of it waits
local function stays(key, ...)
  local comments, notified, locked, state = unpack(redis.call("HMGET", key, "comments", "notified", "locked", "state"))
  return comments and comments ~= "0" or notified or locked or state or redis.call("EXISTS", ...) > 0
end

local reply = {}
for i, number in ipairs(ARGV) do
  local key = KEYS[1] .. number
  local flat = stays(key, KEYS[2] .. number, KEYS[3] .. number, KEYS[4] .. number) and {} or redis.call("HGETALL", key)
  reply[i] = #flat > 0 and {redis.sha1hex(table.concat(flat, "\0")), flat} or {}
end
return reply
