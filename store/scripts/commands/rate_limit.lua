-- Count an attempt in a sliding window, or take points from token buckets.
-- KEYS  of partition p: `window`: tried:{p}:DIGEST   `buckets`: each bucket:{p}:DIGEST
-- ARGV  1 "window" or "buckets"   2 now (unix milliseconds)
--       `window`: 3 its length (milliseconds)   4 its limit
--       `buckets`: 3 capacity (points)   4 refill (points in a millisecond)   from 5 on: points to take from each;
--       less than 0 gives some back
-- Reply `window`: {"counted"} | {"full", when there is room again (unix milliseconds)}
--       `buckets`: the points left in each, which may be below 0, as text
local now = tonumber(ARGV[2])

-- The list has the newest attempt first, in seconds. An attempt counts to the end of its last millisecond.
local function count(key, length, limit)
  local oldest = redis.call("LINDEX", key, limit - 1)
  if oldest then
    local free_at = math.floor(oldest * 1000 + 0.5) + length + 1
    if now < free_at then return {"full", free_at} end
  end
  redis.call("LPUSH", key, string.format("%.3f", now / 1000))
  redis.call("LTRIM", key, 0, limit - 1)
  redis.call("PEXPIRE", key, length + 1)
  return {"counted"}
end

-- Takes points from a bucket. It is kept as POINTS AT, and only until it is full.
local function take(key, capacity, refill, taken)
  local points, at = capacity, now
  local known = redis.call("GET", key)
  if known then
    local points_then, then_at = string.match(known, "(%S+) (%S+)")
    at = math.max(now, tonumber(then_at)) -- the clocks of processes differ: a bucket's time never goes back
    points = math.min(capacity, points_then + (at - then_at) * refill)
  end
  local points_left = string.format("%.17g", math.min(capacity, points - taken))
  local full_in = math.ceil((capacity - points_left) / refill) + 1
  redis.call("SET", key, points_left .. " " .. string.format("%.0f", at), "PX", full_in)
  return points_left
end

if ARGV[1] == "window" then return count(KEYS[1], tonumber(ARGV[3]), tonumber(ARGV[4])) end
local points_left = {}
for i, key in ipairs(KEYS) do points_left[i] = take(key, tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[4 + i])) end
return points_left
