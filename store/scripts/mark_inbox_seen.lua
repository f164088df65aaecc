-- Move the mark of the newest notification seen in the actor's inbox forward, never back, and not beyond the newest one.
-- KEYS  see notifications.lua
-- ARGV  1-7 see notifications.lua   8 value (unix milliseconds) and 9 number (16 digits) of the newest position seen
-- Reply {"marked", username} | {"unauthenticated"}
local viewer = actor()
if not viewer then return {"unauthenticated"} end

local account = USER .. string.lower(viewer)
local newest, newest_time = unpack(redis.call("ZRANGE", INBOX .. string.lower(viewer), 0, 0, "REV", "WITHSCORES"))
if not newest then return {"marked", viewer} end

-- Whether a position comes after another one in time.
local function is_later(value, number, other, other_number)
  value, other = tonumber(value), tonumber(other)
  return value > other or value == other and number > other_number
end

local value, number = ARGV[8], ARGV[9]
local newest_number = string.sub(newest, 1, 16)
if is_later(value, number, newest_time, newest_number) then value, number = newest_time, newest_number end
local seen, seen_number = string.match(redis.call("HGET", account, "inbox_seen") or "", "^(%d+) (%d+)$")
if not seen or is_later(value, number, seen, seen_number) then
  local mark = string.format("%.0f %s", tonumber(value), number)
  redis.call("HSET", account, "inbox_seen", mark)
  log_entry(LOG, EVENTS, ARGV[3], "inbox_seen", viewer, "user:" .. string.lower(viewer), "inbox_seen", mark)
end
return {"marked", viewer}
