-- Add an article to groups, then remove it from others, if the actor is its poster. A group in both lists ends up removed.
-- requires: actions, article_indexes, group_rules, pending_comments, recent_comments
-- from prelude: actor() -> username | false, find_article(number) -> fields by name | nil, split(text) -> {word, ...},
--   require_not_banned(groups), append_log(kind, actor, subject, ...) -> entry id,
--   publish_event(kind, article, groups, id, channel)
-- from actions: standing_action(subject, kinds, wanted) -> (number, kind) | nil
-- from article_indexes: add_to_group(article, group), remove_from_group(article, group),
--   article_hash(number) -> {field, value, ...}
-- from group_rules: refused_groups(groups, checked, condition) -> names | nil
-- from held_edits: requeue_edits(article, groups, groups_before)
-- from pending_comments: requeue_pending(article, groups, groups_before)
-- from recent_comments: recent.note(article, places)
-- replies kept in case the call is sent again, by status (part 2 of the reply is read anew): regrouped without part 2
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of the article   8 groups to add   9 groups to remove, each separated by spaces
--       10 highest number of groups of an article   11 groups to check, separated by spaces
--       12 what these have to be: "listed", "known" (listed, or with articles), or "none" if they are refused anyway
-- Reply {"regrouped", {field, value, ...}, 1 if its comments enter or leave groups now, else 0} | {"missing"} | {"forbidden"}
--       | {"unauthenticated"} | {"hidden"} if the article is not visible | {"locked"}
--       | {"taken_out", group} if a moderator took the article out of a group to which it would be added
--       | {"crowded"} if there would be too many groups
--       | {"refused", groups to which no article may be added, separated by spaces}
local regrouper = actor()
if not regrouper then return {"unauthenticated"} end

local article = find_article(ARGV[7])
if not article then return {"missing"} end
if article.poster ~= regrouper then return {"forbidden"} end
if article.state then return {"hidden"} end
if article.locked == "1" then return {"locked"} end

local before, after = {}, {}
for _, group in ipairs(article.groups) do before[group], after[group] = true, true end
for _, group in ipairs(split(ARGV[8])) do after[group] = true end
for _, group in ipairs(split(ARGV[9])) do after[group] = nil end

local names, added = {}, {}
for group in pairs(after) do
  names[#names + 1] = group
  if not before[group] then added[#added + 1] = group end
end
for _, group in ipairs(added) do
  local is_taken_out = standing_action("article:" .. article.number, "remove", {group = group})
  if is_taken_out then return {"taken_out", group} end
end
if #names > tonumber(ARGV[10]) then return {"crowded"} end
table.sort(added)
local refused = refused_groups(added, ARGV[11], ARGV[12])
if refused then return {"refused", refused} end

table.sort(names)
require_not_banned(added)

local changed, changed_places = {}, {}
for _, group in ipairs(added) do
  add_to_group(article, group)
  changed[#changed + 1] = group
end
for group in pairs(before) do
  if not after[group] then
    remove_from_group(article, group)
    changed[#changed + 1] = group
  end
end
for i, group in ipairs(changed) do changed_places[i] = "group:" .. group end
if #changed > 0 then
  requeue_pending(article.number, names, article.groups)
  requeue_edits(article, names, article.groups)
  redis.call("HSET", KEY.article .. article.number, "groups", table.concat(names, " "))
  local id = append_log(
    "regrouped", regrouper, "article:" .. article.number,
    "groups", table.concat(names, " "), "changed", table.concat(changed, " ")
  )
  publish_event("regrouped", article, changed, id)
end
local has_comments = recent.note(article.number, changed_places)
return {"regrouped", article_hash(article.number), has_comments and 1 or 0}
