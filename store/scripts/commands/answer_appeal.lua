-- Answer the appeal against an action, if the actor could revert the action. Whom the action is about is notified of it once
-- more. Nobody answers their own appeal.
-- requires: actions, notifications, roles
-- from prelude: find_article(number) -> fields by name | nil, split(text) -> {word, ...}, now (unix milliseconds),
--   publish(kind, number, name, id, ...)
-- from appeals: answer_appeal(number, moderator, text)
-- from log_text: append_text(kind, actor, type, number, ...) -> entry id
-- from slots: SLOTS (how many slots there are, as in store/keys.py)
-- from notifications: is_here(slot), notify_here(notified, type, number, poster),
--   note_effects(id, slots) -> {partition, entry id, ...}, slots_of(notified, ...) -> {slot, ...}
-- from roles: authority() -> (username, words of roles), moderates(roles, groups), is_admin(roles),
--   may_moderate_article(moderator, roles, article, group),
--   may_moderate_comment(moderator, roles, poster, poster_roles, groups)
-- replies kept in case the call is sent again, by status: answered
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       appeal: the appeal against an action
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 the actor's roles, in words such as moderator:GROUP=TIME   8 number of partitions   9 number of the action
--       10 text
--       11 the poster of the comment that it is about, as the caller read it, and 12 the words of the poster's roles;
--       or ""
-- Reply {"answered" or, if this is the answer already, "same", number, {field, value, ...} of the action, id of the
--       log's entry or "", {another partition whose users this concerns, id of the last earlier entry for it, or "", ...},
--       moderation:NAME:SLOT:TIME of whom it notifies}
--       | {"missing"} if there is no such appeal, or what the action is about is gone | {"refused"} | {"self"}
--       | {"reverted"} | {"known"} if there is another answer
local answer = ARGV[10]
local moderator, roles = authority()
local number = ARGV[9]
local action, flat = {}, redis.call("HGETALL", KEY.action .. number)
for i = 1, #flat, 2 do action[flat[i]] = flat[i + 1] end
local author, answered_by, known_answer = unpack(redis.call("HMGET", KEY.appeal .. number, "username", "answered_by", "answer"))
if not author or not action.kind then return {"missing"} end

local type, id = string.match(action.subject, "^(%l+):(.*)$")
local group = action.group or ""

-- Functions by what the action is about: whether the actor could revert it, and the slot of the user to notify; nil if what
-- it is about is gone.
-- A slot is one of 1,024 shares of the users, which are spread over the partitions; the number of an action about an
-- article or a user has it: number % SLOTS.
local MAY = {}
function MAY.user()
  if redis.call("EXISTS", KEY.user .. id) == 0 then return nil end
  local of_moderators = action.kind == "ban" or action.kind == "annul_votes" -- the others are roles
  if of_moderators then return moderates(roles, group ~= "" and {group} or {}), number % SLOTS end
  return is_admin(roles), number % SLOTS
end

function MAY.article()
  local article = find_article(id)
  if not article then return nil end
  return may_moderate_article(moderator, roles, article, action.kind == "remove" and group or ""), number % SLOTS
end

function MAY.comment()
  local poster, slot, article = unpack(redis.call("HMGET", KEY.comment .. id, "poster", "slot", "article"))
  local groups = poster and poster == ARGV[11] and redis.call("HGET", KEY.article .. article, "groups")
  if not groups then return nil end
  local places = group ~= "" and {group} or split(groups)
  return may_moderate_comment(moderator, roles, poster, not is_here(slot) and ARGV[12] or nil, places), slot
end

local may_answer, slot = MAY[type]()
if may_answer == nil then return {"missing"} end
if not may_answer then return {"refused"} end
local name = string.lower(author)
if name == string.lower(moderator) then return {"self"} end
if answered_by == moderator and known_answer == answer then return {"same", number, flat, "", {}, ""} end
if answered_by then return {action.reverted_by and "reverted" or "known"} end

answer_appeal(number, moderator, answer)
local notified = string.format("moderation:%s:%.0f:%.0f", name, tonumber(slot), now) -- moderation:NAME:SLOT:TIME
redis.call("HSET", KEY.action .. number, "notified", notified) -- in place of that of the action: an inbox has it once
local entry = append_text("appeal_answered", moderator, "action", number, "text", answer, "notified", notified)
publish("appeal_answered", number, "-", entry) -- "-": the event names nobody
notify_here(notified, "action", number)
return {
  "answered", number, redis.call("HGETALL", KEY.action .. number), entry, note_effects(entry, slots_of(notified)), notified,
}
