-- Write the places of some articles in indexes that are being built: of orders that are added, or of a group's new
-- weights. Whoever votes meanwhile writes them too.
-- ARGV  7 group, or ""   8 what RANKING has of it while it is built   9 the orders that are added, space between
--       10 cursor
-- Reply {"filled", cursor to go on from, or "0", how many articles} | {"stale"} when something else is built now
local group = ARGV[7]
if redis.call("HGET", RANKING, group == "" and "REINDEX" or "next:" .. group) ~= ARGV[8] then return {"stale"} end

local added = words(ARGV[9])
local function fill(article)
  local rules = rules_of(article.groups)
  for _, order in ipairs(group == "" and added or {}) do put(article, order, rules) end
  for _, order in ipairs(group ~= "" and rules.coming[group] and rules.orders or {}) do
    if WEIGHED[order] then
      local place = value(article, order, rules.coming[group])
      redis.call("ZADD", COMING .. group .. ":" .. order, place, article.member)
    end
  end
end

local source = group == "" and INDEX.time or GROUP .. group .. ":time"
local cursor, found = unpack(redis.call("ZSCAN", source, ARGV[10], "COUNT", 40))
for i = 1, #found, 2 do
  local article = find(string.format("%.0f", tonumber(found[i])))
  if article then fill(article) end
end
return {"filled", cursor, #found / 2}
