-- Take points out of buckets, which fill up again.
-- KEYS  each bucket:{p}:DIGEST
-- ARGV  1 now (unix milliseconds)   2 points in a full one   3 points that come back in a millisecond
--       from 4 on: points to take out of each
-- Reply the points left in each, below 0 too, as text
local now, full, back = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local left = {}
for place, key in ipairs(KEYS) do
  local points, at = full, now
  local known = redis.call("GET", key)
  if known then
    local then_left, then_at = string.match(known, "(%S+) (%S+)")
    at = math.max(now, tonumber(then_at)) -- clocks differ, and none turns another back
    points = math.min(full, then_left + (at - then_at) * back)
  end
  points = points - ARGV[3 + place]
  left[place] = string.format("%.17g", points)
  redis.call("SET", key, left[place] .. " " .. string.format("%.0f", at), "PX", math.ceil((full - points) / back) + 1)
end
return left
