-- A function that adds a notification to the inbox of a user, unless there is no such user. It takes no KEYS and no ARGV of
-- its own. `member` see `records.notification_member`; `at` is in unix milliseconds.
local MAX_NOTIFICATIONS = 1000

local function notify(account, inbox, events, member, at)
  local name, mark = unpack(redis.call("HMGET", account, "name", "inbox_seen"))
  if not name then return end
  local seen = tonumber(string.match(mark or "", "^%S+"))
  if seen and seen >= tonumber(at) then at = seen + 1 end -- it comes late: nobody has seen it
  redis.call("ZADD", inbox, at, member)
  local dropped = redis.call("ZRANGE", inbox, 0, -MAX_NOTIFICATIONS - 1, "WITHSCORES")
  if dropped[1] then
    redis.call("ZREMRANGEBYRANK", inbox, 0, -MAX_NOTIFICATIONS - 1)
    redis.call("HSET", account, "inbox_dropped", dropped[#dropped])
  end
  redis.call("PUBLISH", events, string.format("notified %.0f %s", tonumber(string.match(member, "^%d+")), name))
end
