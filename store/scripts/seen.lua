-- Move a user's mark in their feed forward, never back.
-- ARGV  7 value and 8 member of the newest place seen
-- Reply {"marked", username} | {"unauthenticated"}
local viewer = actor()
if not viewer then return {"unauthenticated"} end

local account = USER .. string.lower(viewer)
local seen = words(redis.call("HGET", account, "seen") or "")
local before, value = tonumber(seen[1]), tonumber(ARGV[7])
if not before or value > before or value == before and ARGV[8] > seen[2] then
  redis.call("HSET", account, "seen", ARGV[7] .. " " .. ARGV[8])
end
return {"marked", viewer}
