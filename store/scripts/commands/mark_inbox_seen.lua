-- Move the mark of the newest notification seen in the actor's inbox forward, never back, and not beyond the newest one.
-- requires: log_entry, prelude
-- from log_entry: log_entry(log, events, at, kind, actor, subject, ...) -> entry id
-- from prelude: any_actor() -> username | false
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 value (unix milliseconds) and 8 number (16 digits) of the newest position seen
-- Reply {"marked", username} | {"unauthenticated"}
local viewer = any_actor() -- also one who is banned
if not viewer then return {"unauthenticated"} end

local account = KEY.user .. string.lower(viewer)
local newest, newest_time = unpack(redis.call("ZRANGE", KEY.inbox .. string.lower(viewer), 0, 0, "REV", "WITHSCORES"))
if not newest then return {"marked", viewer} end

-- Whether a position comes after another one in time.
local function is_later(value, number, other_value, other_number)
  value, other_value = tonumber(value), tonumber(other_value)
  return value > other_value or value == other_value and number > other_number
end

local value, number = ARGV[7], ARGV[8]
local newest_number = string.sub(newest, 1, 16)
if is_later(value, number, newest_time, newest_number) then value, number = newest_time, newest_number end
local seen, seen_number = string.match(redis.call("HGET", account, "inbox_seen") or "", "^(%d+) (%d+)$")
if not seen or is_later(value, number, seen, seen_number) then
  local mark = string.format("%.0f %s", tonumber(value), number)
  redis.call("HSET", account, "inbox_seen", mark)
  log_entry(KEY.log, KEY.events, ARGV[3], "inbox_seen", viewer, "user:" .. string.lower(viewer), "inbox_seen", mark)
end
return {"marked", viewer}
