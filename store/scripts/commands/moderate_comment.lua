-- Remove or approve a comment, reject its waiting edit, or revert such an action, if the actor is a moderator of the site or
-- of a group of its article. An approval also applies the waiting edit.
-- requires: actions, comment_edits, comment_states, decisions, flag_clearing, roles
-- from prelude: split(text) -> {word, ...}
-- from flags: is_flagged(number)
-- from slots: SLOTS (how many slots there are, as in store/keys.py)
-- from actions: revertible(number) -> fields by name | nil,
--   notified_user(username, slot, moderator) -> moderation:NAME:SLOT:TIME | "",
--   record_revert(slot, number, action, moderator, reason, note, notified) -> (number, entry id),
--   standing_action(subject, kinds, wanted) -> (number, kind) | nil,
--   record_action(slot, kind, subject, moderator, fields) -> (number, entry id),
--   action_reply(status, number) -> {status, number | "", {field, value, ...}}
-- from notifications: is_here(slot), note_effects(id, slots) -> {partition, entry id, ...},
--   slots_of(notified, ...) -> {slot, ...}
-- from comments: find_comment(number) -> fields by name | nil
-- from held_edits: drop_edit(number, state, groups)
-- from edits: find_edit(number) -> fields by name | nil
-- from comment_edits: apply_comment_edit(comment, groups) -> as change_comment | nothing
-- from comment_states: set_comment_state(comment, state, actor, limit, rule) -> {entry id, effects, state, poster, ...}
-- from decisions: state_after_revert(subject, current) -> (state | nil, kind | nil, rule | nil),
--   state_of(subject) -> (state | nil, kind | nil, rule | nil)
-- from flag_clearing: restore_flags(number, action, is_visible, other_approval, is_removed), clear_flags(number, action)
-- from roles: authority() -> (username, words of roles), may_moderate_comment(moderator, roles, poster, poster_roles, groups)
-- replies kept in case the call is sent again, by status: changed
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 the actor's roles, in words such as moderator:GROUP=TIME   8 number of partitions   9 number of the comment
--       10 remove, approve, reject_edit or revert   11 group in whose name it is removed, or ""   12 reason
--       13 note, or ""   14 number of the action to revert, or ""
--       15 words of the poster's roles as the caller read them   16 the poster whom it read
--       17 how many comments above it get or lose their places in the thread at most
-- Reply {"changed" | "same", number of the action or "", {field, value, ...},
--       the list that `set_comment_state` returns if the state has changed, or {},
--       {id of the action's entry in the log, {another partition whose users this concerns, id of the last earlier entry
--       for it, or "", ...}, moderation:NAME:SLOT:TIME of whom it notifies}, or {},
--       {the same three of an edit that an approval has put in place}, or {}}
--       | {"missing"} | {"refused"} | {"reverted"} | {"elsewhere"} if the article is not in the group | {"purged"}
local reason, note, reverts = ARGV[12], ARGV[13], ARGV[14]
local moderator, roles = authority()
local kind, group, limit = ARGV[10], ARGV[11], tonumber(ARGV[17])
local comment = find_comment(ARGV[9])
if not comment or comment.poster ~= ARGV[16] then return {"missing"} end -- a deleted one has no poster
local groups = redis.call("HGET", KEY.article .. comment.article, "groups")
if not groups then return {"missing"} end
groups = split(groups)

local subject, done = "comment:" .. comment.number, nil -- `done` is the action that is to be reverted
local action_slot = comment.number % SLOTS -- in the number of an action about it; `comment.slot` is that of the poster
local has_edit = find_edit(comment.number) ~= nil
if kind == "revert" then
  done = revertible(reverts)
  if not done then return {"reverted"} end
  group = done.group or ""
end

local function may_act()
  local poster_roles = not is_here(comment.slot) and ARGV[15] or nil
  return may_moderate_comment(moderator, roles, comment.poster, poster_roles, group ~= "" and {group} or groups)
end

local function is_in_group()
  for _, each in ipairs(groups) do if each == group then return true end end
  return false
end

-- Whom the action notifies: the poster, who may be in another partition. An approval of what was shown already notifies nobody.
local function notified()
  if kind == "approve" and not comment.state and not has_edit then return "" end
  return notified_user(comment.poster, comment.slot, moderator)
end

-- Notes the entry `id` of the log for the partitions of those whom it notifies, sets `entry` for the reply, and returns
-- the number of the action.
local entry = {}
local function note_for_others(action, id)
  local notifies = notified()
  entry = {id, note_effects(id, slots_of(notifies)), notifies}
  return action
end

-- The status, the number of the action, the state that the comment then has, "visible" or another one, and the rule that
-- holds it again, or nil.
local function act()
  if done then
    local action = note_for_others(record_revert(action_slot, reverts, done, moderator, reason, note, notified()))
    local state, _, rule = state_after_revert(subject, comment.state)
    return "changed", action, state or "visible", rule
  end
  local state = kind == "remove" and "removed" or "visible"
  local _, decided = state_of(subject)
  if decided == "purge" and kind ~= "reject_edit" then -- to reject an edit is "same" below, as none waits any more
    return kind == "remove" and "same" or "purged", standing_action(subject, "purge"), state
  end
  local has_flags = kind == "approve" and is_flagged(comment.number)
  local is_same = state == (comment.state or "visible") and decided == kind and not has_flags and not has_edit
  if kind == "reject_edit" then state, is_same = comment.state or "visible", not has_edit end
  if is_same then return "same", standing_action(subject, kind) or nil, state end
  local fields = {group = group, reason = reason, note = note, notified = notified()}
  if kind ~= "reject_edit" then fields.before = comment.state end
  if kind == "approve" then fields.held_by = string.match(comment.held_by or "", "^%S+") end
  return "changed", note_for_others(record_action(action_slot, kind, subject, moderator, fields)), state
end

-- Restores the flags that the reverted approval had cleared; `state` is what `act` has returned.
local function restore_cleared(state)
  local number, decided = standing_action(subject, "remove approve")
  local other_approval = decided == "approve" and number or nil
  local is_shown, is_removed = state == "visible" and not comment.away, state == "removed"
  restore_flags(comment.number, reverts, is_shown, other_approval, is_removed)
end

if not may_act() then return {"refused"} end
if group ~= "" and not done and not is_in_group() then return {"elsewhere"} end
local status, action, state, rule = act()
if status == "purged" then return {status} end
local reply = action_reply(status, action)
reply[4], reply[5], reply[6] = {}, entry, {}
if state ~= (comment.state or "visible") then
  reply[4] = set_comment_state(comment, state ~= "visible" and state or nil, moderator, limit, rule)
end
if status == "changed" and kind == "reject_edit" then drop_edit(comment.number, comment.state, groups) end
if status == "changed" and kind == "approve" then
  reply[6] = {apply_comment_edit(comment, groups)}
  clear_flags(comment.number, action)
end
if done and done.kind == "approve" then restore_cleared(state) end
return reply
