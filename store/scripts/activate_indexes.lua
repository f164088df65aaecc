-- Let what was built take its place: write so many orders from now on, or give a group its new weights and indexes.
-- ARGV  7 group, or ""   8 what RANKING has of it while it is built, or "" where nothing was built   9 the orders, or the group's weights, which may
--       be ""
--       10 "dropping" while indexes of orders that are not kept are still dropped, or "": then the rebuild has ended
-- Reply {"settled"}, also where that was done before and nothing else is built now | {"stale"} when something else is
local group = ARGV[7]
local building, kept = group == "" and "REINDEX" or "next:" .. group, group == "" and "ORDERS" or group
if ARGV[8] ~= "" then
  local built = redis.call("HGET", RANKING, building)
  if not built and (redis.call("HGET", RANKING, kept) or "") == ARGV[9] then return {"settled"} end -- sent again
  if built ~= ARGV[8] then return {"stale"} end
end

for order in pairs(group ~= "" and ARGV[8] ~= "" and WEIGHED or {}) do
  local old, new = GROUP .. group .. ":" .. order, COMING .. group .. ":" .. order
  if redis.call("EXISTS", new) == 1 then
    redis.call("UNLINK", old) -- in the background, which RENAME might not do
    redis.call("RENAME", new, old)
  end
end
if ARGV[8] ~= "" and ARGV[10] == "" then redis.call("HDEL", RANKING, building) end
if ARGV[9] == "" then
  redis.call("HDEL", RANKING, kept)
else
  redis.call("HSET", RANKING, kept, ARGV[9])
end
redis.call("PUBLISH", EVENTS, "ranked 0 - " .. group)
return {"settled"}
