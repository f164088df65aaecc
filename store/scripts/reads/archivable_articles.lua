-- Read articles that may be archived, which means that they leave Redis and stay in the SQL database, with a digest of
-- each, by which archive.lua sees whether it has changed since.
-- KEYS  of partition p: 1 article:{p}:   2 flags:{p}:   3 tree:{p}:, its comments
--       4 heldedit:{p}:, an edit that waits for approval (an article number is appended to each)
-- ARGV  1 instant (unix milliseconds): articles with a conversation may leave if nothing was written there after it; ""
--       if these stay
--       from 2 on: numbers
-- Reply for each number {digest, number of comments, also of those that are not shown, {field, value, ...}}; {} if
--       there is no such article, or if it has flags that were not cleared, an edit of it waits, or it is pending,
--       or if it has a conversation that stays: it has comments or notified users, or is removed or locked
local quiet_since = tonumber(ARGV[1])

local function is_flagged(flags)
  for _, text in ipairs(redis.call("HVALS", flags)) do
    -- AT REASON NAME [+]CLEARED_BY ...: CLEARED_BY is "-" if it was not cleared
    if string.match(text, "^%d+ %S+ %S+ %+?(%S+)") == "-" then return true end
  end
  return false
end

local function stays(key, count, flags, edit)
  local comments, notified, locked, state, active, written =
    unpack(redis.call("HMGET", key, "comments", "notified", "locked", "state", "active", "written"))
  if state and state ~= "removed" or redis.call("EXISTS", edit) == 1 or is_flagged(flags) then return true end
  if count == 0 and (comments or "0") == "0" and not notified and not locked and not state then return false end
  return not quiet_since or math.max(tonumber(active or 0), tonumber(written or 0)) > quiet_since
end

local reply = {}
for i = 2, #ARGV do
  local number = ARGV[i]
  local key, count = KEYS[1] .. number, redis.call("ZCARD", KEYS[3] .. number)
  local flat = stays(key, count, KEYS[2] .. number, KEYS[4] .. number) and {} or redis.call("HGETALL", key)
  reply[i - 1] = #flat > 0 and {redis.sha1hex(table.concat(flat, "\0")), count, flat} or {}
end
return reply
