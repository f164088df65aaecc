-- Add an article to groups, then remove it from others, if the actor is its poster. A group in both lists is removed.
-- KEYS  see prelude.lua
-- ARGV  1-6 see prelude.lua   7 number   8 groups to add   9 groups to remove, each separated by spaces
--       10 highest number of groups of an article
-- Reply {"regrouped", {field, value, ...}} | {"missing"} | {"forbidden"} | {"unauthenticated"}
--       | {"crowded"} if there would be too many groups
local regrouper = actor()
if not regrouper then return {"unauthenticated"} end

local article = find_article(ARGV[7])
if not article then return {"missing"} end
if article.poster ~= regrouper then return {"forbidden"} end

local before, after = {}, {}
for _, group in ipairs(article.groups) do before[group], after[group] = true, true end
for _, group in ipairs(split(ARGV[8])) do after[group] = true end
for _, group in ipairs(split(ARGV[9])) do after[group] = nil end

local names = {}
for group in pairs(after) do names[#names + 1] = group end
if #names > tonumber(ARGV[10]) then return {"crowded"} end

table.sort(names)
local changed = {}
for group in pairs(after) do
  if not before[group] then
    add_to_group(article, group)
    changed[#changed + 1] = group
  end
end
for group in pairs(before) do
  if not after[group] then
    remove_from_group(article, group)
    changed[#changed + 1] = group
  end
end
if #changed > 0 then
  redis.call("HSET", ARTICLE .. article.number, "groups", table.concat(names, " "))
  local id = append_log(
    "regrouped", regrouper, "article:" .. article.number,
    "groups", table.concat(names, " "), "changed", table.concat(changed, " ")
  )
  publish_event("regrouped", article, changed, id)
end
return {"regrouped", article_hash(article.number)}
