-- Flag an article or a comment, so that moderators look at it, or withdraw the flag. Another flag of the same user replaces
-- the first one, and keeps its time. A flag that was cleared by an approval stays as it is. If enough flags count, the thing is
-- hidden until a moderator has looked at it, unless it is a moderator's, or was approved and not edited since.
-- requires: actions, article_states, comment_states, log_text
-- from prelude: actor() -> username | false, find_article(number) -> fields by name | nil, require_not_banned(groups),
--   now (unix milliseconds), append_log(kind, actor, subject, ...) -> entry id, publish(kind, number, name, id, ...),
--   split(text) -> {word, ...}
-- from flags: parse_flag(text) -> flag, set_flag(number, name, flag), flags_of(number) -> flags by name
-- from log_text: append_text(kind, actor, type, number, ...) -> entry id
-- from slots: SLOTS (how many slots there are, as in store/keys.py)
-- from actions: standing_action(subject, kinds, wanted) -> (number, kind) | nil
-- from notifications: is_here(slot)
-- from article_states: set_state(article, state, actor, rule)
-- from comments: find_comment(number) -> fields by name | nil, note_written(article)
-- from comment_states: set_comment_state(comment, state, actor, limit, rule) -> {entry id, effects, state, poster, ...}
-- replies kept in case the call is sent again, by status (part 3 of the reply is read anew): changed without part 3, hides
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       flags: flags on an article or comment, by user
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of partitions   8 number of the article or comment   9 article or comment
--       10 reason, or "" to withdraw the flag   11 note
--       12 how many flags that count hide the thing at least, "0" if this one does not count
--       13 how many votes of the thing one flag that counts outweighs
--       14 words of the roles of a comment's poster, who is in another partition, as the caller read them
--       15 how many comments above a hidden one lose their places in the thread at most
--       16 names in lower case of users whose flags on it do not count any more, as they are banned, as the caller read them
-- Reply {"changed" | "same", name of the actor, {field, value, ...} of the article or comment} | {"missing"}
--       | {"hidden"}
--       | {"hides", name of the actor, the list that `set_comment_state` returns, {} for an article} if the thing is hidden now
--       | {"own"} if the actor has posted it | {"unauthenticated"}
local flagger = actor()
if not flagger then return {"unauthenticated"} end

local NOBODY = "" -- who hides the thing: no moderator
local number, type, reason, note = ARGV[8], ARGV[9], ARGV[10], ARGV[11]
local function find_subject()
  if type == "article" then return find_article(number) end
  local comment = find_comment(number)
  local article = comment and comment.state ~= "deleted" and find_article(comment.article)
  if not article then return nil end
  comment.state, comment.groups = comment.state or article.state, article.groups
  return comment
end

local subject = find_subject()
if not subject then return {"missing"} end
if subject.state then return {"hidden"} end
if string.lower(subject.poster) == string.lower(flagger) then return {"own"} end
require_not_banned(subject.groups)

local name, hide_at = string.lower(flagger), tonumber(ARGV[12])
local known = redis.call("HGET", KEY.flags .. number, name)
local before = known and parse_flag(known)
local is_same = before and (before.cleared_by or before.reason == reason and before.note == note)
if is_same or not before and reason == "" then return {"same", flagger, subject.flat} end

local withdrawn = reason == ""
local flag = not withdrawn and {
  at = before and before.at or now, reason = reason, name = flagger, groups = subject.groups, note = note,
  counts = hide_at > 0,
} or nil
set_flag(number, name, flag)
if type == "comment" then note_written(subject.article) end
local id
if withdrawn then
  id = append_log("unflagged", flagger, type .. ":" .. number)
else
  id = append_text("flagged", flagger, type, number, "reason", reason, "note", note, "flagged_at",
    string.format("%.0f", flag.at), "groups", table.concat(subject.groups, " "))
end
publish(withdrawn and "unflagged" or "flagged", number, "-", id) -- "-": the event names nobody

local function has_enough_flags()
  local count, banned = 0, {}
  for _, each in ipairs(split(ARGV[16])) do banned[each] = true end
  for each_name, each in pairs(flags_of(number)) do
    if each.counts and not each.cleared_by and not banned[each_name] then count = count + 1 end
  end
  return count >= hide_at and count * tonumber(ARGV[13]) >= subject.up - subject.down
end

local function is_of_moderator()
  local roles = ARGV[14]
  if is_here(subject.slot or number % SLOTS) then -- the slot of the poster: that of an article's is in its number
    roles = redis.call("HGET", KEY.user .. string.lower(subject.poster), "roles") or ""
  end
  return roles ~= ""
end

local function is_approved()
  local action = standing_action(type .. ":" .. number, "approve")
  local at = action and redis.call("HGET", KEY.action .. action, "at")
  return at and tonumber(at) >= tonumber(subject.edited or 0)
end

if withdrawn or not flag.counts or not has_enough_flags() or is_of_moderator() or is_approved() then
  return {"changed", flagger, subject.flat}
end
if type == "article" then
  set_state(subject, "pending", NOBODY)
  return {"hides", flagger, {}}
end
return {"hides", flagger, set_comment_state(subject, "pending", NOBODY, tonumber(ARGV[15]))}
