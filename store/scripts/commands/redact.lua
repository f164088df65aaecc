-- Replace the reason or the note of an action with another text, if the actor is an admin, and remove the entries of the log
-- that have the old one. The new entry has all that everybody may read of the action.
-- requires: actions, roles
-- from prelude: split(text) -> {word, ...}
-- from log_text: append_text(kind, actor, type, number, ...) -> entry id
-- from actions: public_values(number) -> {field, value, ...}, publish_action(kind, number, moderator, id, group),
--   action_reply(status, number) -> {status, number | "", {field, value, ...}}
-- from roles: authority() -> (username, words of roles), is_admin(roles)
-- flags: allow-oom
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       logged: ids of the log's entries with texts, by number or user
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 the actor's roles, in words such as moderator:GROUP=TIME   8 number of the action   9 the new text
--       10 from here on: which fields to replace, reason or note
-- Reply {"changed", number, {field, value, ...}} | {"missing"} | {"refused"}
local admin, roles = authority()
if not is_admin(roles) then return {"refused"} end
local number = ARGV[8]
local moderator, at, group = unpack(redis.call("HMGET", KEY.action .. number, "moderator", "at", "group"))
if not moderator then return {"missing"} end

for i = 10, #ARGV do
  if redis.call("HEXISTS", KEY.action .. number, ARGV[i]) == 1 then
    redis.call("HSET", KEY.action .. number, ARGV[i], ARGV[9])
  end
end
local with_texts = redis.call("HGET", KEY.logged, number) or ""
for _, entry in ipairs(split(with_texts)) do redis.call("XDEL", KEY.log, entry) end
redis.call("HDEL", KEY.logged, number)
local values = public_values(number)
for _, each in ipairs({"moderator", moderator, "at_ms", at, "entries", with_texts}) do values[#values + 1] = each end
local id = append_text("redacted", admin, "action", number, unpack(values))
publish_action("redacted", number, admin, id, group or "")
return action_reply("changed", number)
