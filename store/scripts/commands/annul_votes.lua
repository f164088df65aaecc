-- Record the action of a moderator that annuls the votes of a user from a span of time, so that they count no more. Or
-- revert such an action. The votes are annulled and restored in steps, by annul_some.lua and restore_some.lua.
-- requires: actions, roles
-- from prelude: now (unix milliseconds)
-- from actions: revertible(number) -> fields by name | nil,
--   record_revert(slot, number, action, moderator, reason, note, notified) -> (number, entry id),
--   action_reply(status, number) -> {status, number | "", {field, value, ...}},
--   record_action(slot, kind, subject, moderator, fields) -> (number, entry id)
-- from roles: authority() -> (username, words of roles), moderates_site(roles), outranks(roles, subject_roles, groups)
-- replies kept in case the call is sent again, by status: changed
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       annulling: actions whose votes are still to be annulled or restored   actions: actions of moderators, by time
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 the actor's roles, in words such as moderator:GROUP=TIME   8 username in lower case
--       9 slot of the user (one of 1,024; it decides their partition)   10 from when the votes were cast, or ""
--       11 until when (unix milliseconds)   12 reason   13 note, or ""   14 number of the action to revert, or ""
-- Reply {"changed" or, if a standing action annuls all of these votes, "same", number of the action, {field, value,
--       ...}} | {"missing"} | {"self"} | {"refused"} if the actor is no moderator | {"outranked"} by the user's role
--       | {"reverted"}
local moderator, roles = authority()
local lower_name, reverts = ARGV[8], ARGV[14]
local name, subject_roles = unpack(redis.call("HMGET", KEY.user .. lower_name, "name", "roles"))
if not moderates_site(roles) then return {"refused"} end
if not name then return {"missing"} end
if string.lower(moderator) == lower_name then return {"self"} end

if reverts ~= "" then
  local action = revertible(reverts)
  if not action then return {"reverted"} end
  local number = record_revert(ARGV[9], reverts, action, moderator, ARGV[12], ARGV[13])
  redis.call("ZADD", KEY.annulling, now, reverts)
  return action_reply("changed", number)
end

-- Whether an action, given by some fields, annuls the votes of a span of time that includes the wanted one.
local function covers_span(fields)
  local votes, at, from, to, reverted_by = unpack(fields)
  if not votes or reverted_by then return false end
  return tonumber(from or 0) <= (tonumber(ARGV[10]) or 0) and tonumber(to or at) >= tonumber(ARGV[11])
end

if not outranks(roles, subject_roles or "", {}) then return {"outranked"} end
for _, member in ipairs(redis.call("ZRANGE", KEY.actions .. "user:" .. lower_name, 0, -1, "REV")) do
  local known = string.format("%.0f", tonumber(member))
  if covers_span(redis.call("HMGET", KEY.action .. known, "votes", "at", "from", "to", "reverted_by")) then
    return action_reply("same", known)
  end
end
local number = record_action(ARGV[9], "annul_votes", "user:" .. lower_name, moderator, {
  from = ARGV[10], to = ARGV[11], reason = ARGV[12], note = ARGV[13], votes = "1",
})
redis.call("ZADD", KEY.annulling, now, number)
return action_reply("changed", number)
