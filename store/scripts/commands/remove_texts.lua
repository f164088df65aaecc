-- Remove some texts of a banned user, each by an action of its own that names the ban, unless the ban was reverted.
-- A text stays as it is if it is removed already, was posted after the ban, or is outside of the group of the ban, or if a
-- moderator has decided about it since. An article that is in other groups, too, is only taken out of the group of the ban.
-- requires: article_states, comment_states, decisions
-- from prelude: require_writable(), find_article(number) -> fields by name | nil
-- from slots: SLOTS (how many slots there are, as in store/keys.py)
-- from article_states: set_state(article, state, actor, rule), take_out_of_group(article, group, actor)
-- from comments: find_article_info(number) -> {poster, time, state, locked, groups} | nil,
--   find_comment(number) -> fields by name | nil
-- from comment_states: set_comment_state(comment, state, actor, limit, rule) -> {entry id, effects, state, poster, ...}
-- from actions: record_action(slot, kind, subject, moderator, fields) -> (number, entry id)
-- flags: allow-oom
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       lifted: bans that were reverted   actions: actions of moderators, by time
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of partitions   8 number of the ban   9 who has banned   10 when (unix milliseconds)   11 group, or ""
--       12 reason   13 how many comments above a comment get or lose their places in the thread at most
--       14 user in lower case   from 15 on: numbers of articles and comments
-- Reply {"removed", {number, {} or what `set_comment_state` returns}, ...}: those that were removed
--       | {"reverted"} if the ban was
require_writable()
local ban, moderator, at, group, name = ARGV[8], ARGV[9], tonumber(ARGV[10]), ARGV[11], ARGV[14]
if redis.call("ZSCORE", KEY.lifted, ban) then return {"reverted"} end

-- Whether this ban has removed a text before, or a moderator has decided about it since the ban.
local function is_decided(subject)
  local DECIDING = {remove = true, approve = true, revert = true}
  local members = redis.call("ZRANGE", KEY.actions .. subject, 0, -1, "WITHSCORES")
  for i = 1, #members, 2 do
    local kind, own = unpack(redis.call("HMGET", KEY.action .. string.format("%.0f", tonumber(members[i])), "kind", "ban"))
    if own == ban or DECIDING[kind] and tonumber(members[i + 1]) >= at then return true end
  end
  return false
end

local function is_removable(text, subject)
  if text.state == "removed" or text.state == "deleted" or text.time > at then return false end
  return string.lower(text.poster) == name and not is_decided(subject)
end

local function is_in_group(groups)
  for _, each in ipairs(groups) do if each == group then return true end end
  return group == ""
end

-- Records the removal in a group, or with "" as a whole. `number % SLOTS` is the slot in the number of an action about
-- it.
local function record(subject, number, place, before)
  record_action(number % SLOTS, "remove", subject, moderator, {
    group = place, reason = ARGV[12], before = before or "", ban = ban, notified = "",
  })
end

-- This and the next function return what the reply has of a text; nil if it stays.
local function remove_article(article)
  local subject = "article:" .. article.number
  if not is_in_group(article.groups) or not is_removable(article, subject) then return nil end
  local place = group ~= "" and #article.groups > 1 and group or ""
  record(subject, article.number, place, place == "" and article.state)
  if place == "" then set_state(article, "removed", moderator) else take_out_of_group(article, group, moderator) end
  return {article.number, {}}
end

local function remove_comment(comment)
  local article_info, subject = find_article_info(comment.article), "comment:" .. comment.number
  if not article_info or not is_in_group(article_info.groups) or not is_removable(comment, subject) then return nil end
  record(subject, comment.number, group, comment.state)
  return {comment.number, set_comment_state(comment, "removed", moderator, tonumber(ARGV[13]))}
end

local reply = {"removed"}
for i = 15, #ARGV do
  local article = find_article(ARGV[i])
  local comment = not article and find_comment(ARGV[i])
  reply[#reply + 1] = article and remove_article(article) or comment and remove_comment(comment) or nil
end
return reply
