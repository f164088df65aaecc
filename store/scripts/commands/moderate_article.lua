-- Remove, approve or lock an article, take it out of one of its groups, reject its waiting edit, or revert such an action, if
-- the actor is a moderator of the place. An approval also applies the waiting edit.
-- requires: actions, article_edits, article_states, decisions, flag_clearing, roles
-- from prelude: find_article(number) -> fields by name | nil
-- from flags: is_flagged(number)
-- from slots: SLOTS (how many slots there are, as in store/keys.py)
-- from actions: revertible(number) -> fields by name | nil,
--   notified_of_action(subject, slot, moderator) -> moderation:NAME:SLOT:TIME | "",
--   record_action(slot, kind, subject, moderator, fields) -> (number, entry id),
--   record_revert(slot, number, action, moderator, reason, note, notified) -> (number, entry id),
--   standing_action(subject, kinds, wanted) -> (number, kind) | nil,
--   action_reply(status, number) -> {status, number | "", {field, value, ...}}
-- from held_edits: drop_edit(number, state, groups)
-- from edits: find_edit(number) -> fields by name | nil
-- from article_edits: apply_edit(article) -> as change_article | nothing
-- from article_states: set_state(article, state, actor, rule), set_locked(article, is_locked, actor),
--   take_out_of_group(article, group, actor), put_back_in_group(article, group, actor)
-- from decisions: is_purged(subject), state_of(subject) -> (state | nil, kind | nil, rule | nil),
--   state_after_revert(subject, current) -> (state | nil, kind | nil, rule | nil)
-- from flag_clearing: clear_flags(number, action), restore_flags(number, action, is_visible, other_approval, is_removed)
-- from roles: authority() -> (username, words of roles), may_moderate_article(moderator, roles, article, group)
-- replies kept in case the call is sent again, by status: changed
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 the actor's roles, in words such as moderator:GROUP=TIME   8 number of partitions   9 number of the article
--       10 remove, approve, lock, reject_edit or revert   11 group, or "": with remove, the article is taken out of it
--       12 reason   13 note, or ""   14 number of the action to revert, or ""
--       15 highest number of groups of an article
-- Reply {"changed" | "same", number of the action or "", {field, value, ...}, {id of the log's entry,
--       {another partition whose users this concerns, id of the last earlier entry for it, or "", ...},
--       KIND:NAME:SLOT:TIME of whom it notifies} of an edit that an approval has put in place,
--       else {}} | {"missing"} | {"refused"} | {"reverted"} | {"elsewhere"} if the article is not in the group
--       | {"crowded"} if an article that comes back to a group would be in too many | {"purged"}
local reason, note, reverts = ARGV[12], ARGV[13], ARGV[14]
local moderator, roles = authority()
local number, kind, group = ARGV[9], ARGV[10], ARGV[11]
local article = find_article(number)
if not article then return {"missing"} end

local subject, slot, done = "article:" .. number, number % SLOTS, nil -- `done` is the action that is to be reverted
if kind == "revert" then
  done = revertible(reverts)
  if not done then return {"reverted"} end
  kind, group = done.kind, done.group or ""
end
local is_of_group = kind == "remove" and group ~= ""

local function is_in(groups, wanted)
  for _, each in ipairs(groups) do if each == wanted then return true end end
  return false
end

local function record(fields)
  fields.group, fields.reason, fields.note = group, reason, note
  local shows = kind == "approve" and (article.state or find_edit(number)) -- the text, or an edit of it, from now on
  if shows then fields.notified = notified_of_action(subject, slot, moderator) end
  return record_action(slot, kind, subject, moderator, fields)
end

local function revert()
  return record_revert(slot, reverts, done, moderator, reason, note)
end

local WHOLE, edited = {group = ""}, {} -- of an action on the whole article; what `apply_edit` has returned
-- Functions by the kind of action, which return the status and the number of the action. `standing_action` returns two values:
-- `or nil` keeps only the number.
local DO, UNDO = {}, {}

function DO.remove()
  if article.state == "removed" then return "same", standing_action(subject, "remove purge", WHOLE) or nil end
  local action = record({before = article.state or ""})
  set_state(article, "removed", moderator)
  return "changed", action
end

function DO.approve()
  if is_purged(subject) then return "purged" end
  local _, decided = state_of(subject)
  if not article.state and decided == "approve" and not is_flagged(number) and not find_edit(number) then
    return "same", standing_action(subject, "approve") or nil
  end
  local action = record({before = article.state or "", held_by = string.match(article.held_by or "", "^%S+")})
  if article.state then set_state(article, nil, moderator) end
  edited = {apply_edit(article)}
  clear_flags(number, action)
  return "changed", action
end

local function undo_decision()
  local action = revert()
  local state, decided, rule = state_after_revert(subject, article.state)
  if state ~= article.state then set_state(article, state, moderator, rule) end
  if kind == "approve" then
    local other_approval = decided == "approve" and standing_action(subject, "approve") or nil
    local is_visible, is_removed = not state, state == "removed"
    restore_flags(number, reverts, is_visible, other_approval, is_removed)
  end
  return "changed", action
end
UNDO.remove, UNDO.approve = undo_decision, undo_decision

function DO.lock()
  if group ~= "" and not is_in(article.groups, group) then return "elsewhere" end
  if article.locked then return "same", standing_action(subject, "lock") or nil end
  local action = record({})
  set_locked(article, true, moderator)
  return "changed", action
end

function UNDO.lock()
  local action = revert()
  local is_locked = standing_action(subject, "lock") ~= nil
  if is_locked ~= (article.locked ~= nil) then set_locked(article, is_locked, moderator) end
  return "changed", action
end

function DO.reject_edit()
  if not find_edit(number) then return "same", standing_action(subject, "reject_edit") or nil end
  local action = record({})
  drop_edit(number, article.state, article.groups)
  return "changed", action
end

local function take_out() -- of the group
  if not is_in(article.groups, group) then
    local standing = standing_action(subject, "remove", {group = group})
    return standing and "same" or "elsewhere", standing
  end
  local action = record({})
  take_out_of_group(article, group, moderator)
  return "changed", action
end

local function return_to_group()
  if is_in(article.groups, group) then return "changed", revert() end
  if #article.groups >= tonumber(ARGV[15]) then return "crowded" end
  local action = revert()
  put_back_in_group(article, group, moderator)
  return "changed", action
end

if not may_moderate_article(moderator, roles, article, is_of_group and group or "") then return {"refused"} end
local act = is_of_group and (done and return_to_group or take_out) or (done and UNDO or DO)[kind]
local status, action = act()
if status ~= "changed" and status ~= "same" then return {status} end
local reply = action_reply(status, action)
reply[4] = edited
return reply
