-- Grant a role to a user or revoke it, or revert such an action, if the actor is an admin. The user has the role if the newest
-- of these actions that was not reverted is a grant.
-- requires: role_words
-- from actions: revertible(number) -> fields by name | nil,
--   record_revert(slot, number, action, moderator, reason, note, notified) -> (number, entry id),
--   action_reply(status, number) -> {status, number | "", {field, value, ...}},
--   standing_action(subject, kinds, wanted) -> (number, kind) | nil,
--   record_action(slot, kind, subject, moderator, fields) -> (number, entry id)
-- from roles: authority() -> (username, words of roles), is_admin(roles), has_role(roles, role)
-- from role_words: role_word(role, group) -> text, write_role(lower_name, name, role, group)
-- replies kept in case the call is sent again, by status: changed
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 the actor's roles, in words such as moderator:GROUP=TIME   8 username in lower case
--       9 slot of the user (one of 1,024; it decides their partition)   10 grant_role, revoke_role or revert
--       11 role: admin or moderator   12 group, or ""   13 reason   14 note, or ""
--       15 number of the action to revert, or ""
-- Reply {"changed" | "same", number of the action or "", {field, value, ...}} | {"missing"} | {"refused"} | {"reverted"}
local username, slot, reason, note = ARGV[8], ARGV[9], ARGV[13], ARGV[14]
local moderator, roles = authority()
local kind, role, group, reverts = ARGV[10], ARGV[11], ARGV[12], ARGV[15]
if not is_admin(roles) then return {"refused"} end

local subject = "user:" .. username
local name, held = unpack(redis.call("HMGET", KEY.user .. username, "name", "roles"))
if not name or string.sub(name, 1, 1) == "~" then return {"missing"} end  -- whoever was deleted has no roles

local number
if reverts ~= "" then
  local action = revertible(reverts)
  if not action then return {"reverted"} end
  number = record_revert(slot, reverts, action, moderator, reason, note)
else
  if has_role(held or "", role_word(role, group)) == (kind == "grant_role") then
    return action_reply("same", standing_action(subject, kind, {role = role, group = group}) or nil)
  end
  local fields = {role = role, group = group, reason = reason, note = note}
  number = record_action(slot, kind, subject, moderator, fields)
end
write_role(username, name, role, group)
return action_reply("changed", number)
