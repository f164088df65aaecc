-- Let what was built take its place: write so many orders from now on, or give a group its new weights and indexes.
-- ARGV  7 group, or ""   8 what RANKING has of it while it is built, or "" where nothing was built   9 the orders, or the group's weights, which may
--       be ""
-- Reply {"settled"} | {"stale"} when something else is built now
local group = ARGV[7]
local building = group == "" and "REINDEX" or "next:" .. group
if ARGV[8] ~= "" and redis.call("HGET", RANKING, building) ~= ARGV[8] then return {"stale"} end

for order in pairs(group ~= "" and ARGV[8] ~= "" and WEIGHED or {}) do
  local old, new = GROUP .. group .. ":" .. order, COMING .. group .. ":" .. order
  if redis.call("EXISTS", new) == 1 then
    redis.call("UNLINK", old) -- in the background, which RENAME might not do
    redis.call("RENAME", new, old)
  end
end
if ARGV[8] ~= "" then redis.call("HDEL", RANKING, building) end
if ARGV[9] == "" then
  redis.call("HDEL", RANKING, group)
else
  redis.call("HSET", RANKING, group == "" and "ORDERS" or group, ARGV[9])
end
redis.call("PUBLISH", EVENTS, "ranked 0 - " .. group)
return {"settled"}
