-- Add one's own article to groups, then remove it from others: a group in both ends removed.
-- ARGV  7 number   8 names to add   9 names to remove, space between   10 how many groups an article may be in
-- Reply {"regrouped", {field, value, ...}} | {"missing"} | {"forbidden"} | {"crowded"} | {"unauthenticated"}
local regrouper = actor()
if not regrouper then return {"unauthenticated"} end

local article = find(ARGV[7])
if not article then return {"missing"} end
if article.poster ~= regrouper then return {"forbidden"} end

local before, after = {}, {}
for _, group in ipairs(article.groups) do before[group], after[group] = true, true end
for _, group in ipairs(words(ARGV[8])) do after[group] = true end
for _, group in ipairs(words(ARGV[9])) do after[group] = nil end

local names = {}
for group in pairs(after) do names[#names + 1] = group end
if #names > tonumber(ARGV[10]) then return {"crowded"} end

table.sort(names)
local changed = {}
for group in pairs(after) do
  if not before[group] then
    join(article, group)
    changed[#changed + 1] = group
  end
end
for group in pairs(before) do
  if not after[group] then
    leave(article, group)
    changed[#changed + 1] = group
  end
end
if #changed > 0 then
  redis.call("HSET", ARTICLE .. article.number, "groups", table.concat(names, " "))
  tell("regrouped", article, changed)
end
return {"regrouped", stored(article.number)}
