-- Ban a user from the site, which ends all their sessions, or from a group; or revert such an action. If the
-- votes stayed annulled with a first revert (`kept`), a second one restores them and changes nothing else.
-- requires: actions, bans, roles
-- from prelude: now (unix milliseconds)
-- from actions: revertible(number) -> fields by name | nil,
--   record_revert(slot, number, action, moderator, reason, note, notified) -> (number, entry id),
--   action_reply(status, number) -> {status, number | "", {field, value, ...}},
--   record_action(slot, kind, subject, moderator, fields) -> (number, entry id)
-- from session_lists: end_sessions(lower_name, kept)
-- from bans: write_bans(lower_name), standing_bans(lower_name) -> {ends, number} by place,
--   place_of(group) -> site | group:NAME, ends_later(ends, other)
-- from roles: authority() -> (username, words of roles), moderates(roles, groups), outranks(roles, subject_roles, groups)
-- replies kept in case the call is sent again, by status: changed
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       cleaning: bans whose texts are still to be removed or restored
--       annulling: actions whose votes are still to be annulled or restored
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 the actor's roles, in words such as moderator:GROUP=TIME   8 username in lower case
--       9 slot of the user (one of 1,024; it decides their partition)   10 group, or "" for the site
--       11 until (unix milliseconds), 0 for good   12 reason   13 note, or ""
--       14 number of the action to revert, or ""   15 "1" if the texts of the user are removed, too, else ""
--       16 "1" if the votes of the user are annulled, too, else ""; with an action to revert "1" if they stay annulled
-- Reply {"changed" or, if a ban stands that does all of this, "same", number of the action, {field, value, ...}}
--       | {"missing"} | {"self"} | {"refused"} if the actor is no moderator | {"outranked"} by the user's role
--       | {"reverted"}
local slot, reason, note = ARGV[9], ARGV[12], ARGV[13]
local moderator, roles = authority()
local lower_name, group, ends, reverts = ARGV[8], ARGV[10], tonumber(ARGV[11]), ARGV[14]
local groups = group ~= "" and {group} or {}
local name, subject_roles = unpack(redis.call("HMGET", KEY.user .. lower_name, "name", "roles"))
if not moderates(roles, groups) then return {"refused"} end
if not name then return {"missing"} end
if string.lower(moderator) == lower_name then return {"self"} end

if reverts ~= "" then
  local action, keeps_votes = revertible(reverts), ARGV[16] == "1"
  if not action or action.kept and keeps_votes then return {"reverted"} end
  local number = record_revert(slot, reverts, action, moderator, reason, note)
  if not action.kept then
    write_bans(lower_name)
    if action.texts then redis.call("ZADD", KEY.cleaning, now, reverts) end
  end
  if action.votes and keeps_votes then
    redis.call("HSET", KEY.action .. reverts, "kept", "1")
  elseif action.votes then
    redis.call("ZADD", KEY.annulling, now, reverts)
    redis.call("HDEL", KEY.action .. reverts, "kept")
  end
  return action_reply("changed", number)
end

if not outranks(roles, subject_roles or "", groups) then return {"outranked"} end
local standing = standing_bans(lower_name)[place_of(group)]
local removes_texts, annuls_votes = ARGV[15] == "1", ARGV[16] == "1"
local function lacks(field)
  return redis.call("HEXISTS", KEY.action .. standing.number, field) == 0
end
local adds = standing and (removes_texts and lacks("texts") or annuls_votes and lacks("votes"))
if standing and not ends_later(ends, standing.ends) and not adds then
  return action_reply("same", standing.number)
end

local number = record_action(slot, "ban", "user:" .. lower_name, moderator, {
  group = group, ["until"] = ARGV[11], reason = reason, note = note, texts = ARGV[15], votes = ARGV[16],
})
if removes_texts then redis.call("ZADD", KEY.cleaning, now, number) end
if annuls_votes then redis.call("ZADD", KEY.annulling, now, number) end
if group == "" then end_sessions(lower_name) end
write_bans(lower_name)
return action_reply("changed", number)
