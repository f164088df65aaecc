-- Appeal against an action of a moderator, if it is about the actor or a text of the actor: once for each action. The appeal
-- waits in the queues of the site and of the groups whose moderators could revert the action, until one answers it.
-- requires: appeals, log_text
-- from prelude: any_actor() -> username | false, split(text) -> {word, ...}, now (unix milliseconds),
--   publish(kind, number, name, id, ...)
-- from flags: set_waiting(queue, number, since, groups, groups_before)
-- from log_text: append_text(kind, actor, type, number, ...) -> entry id
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       appeal: the appeal against an action
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of the action   8 text
-- Reply {"appealed", {field, value, ...} of the action}, also if there is this appeal already
--       | {"missing"} if there is no such action, or what it is about is gone | {"forbidden"} if it is about another user
--       | {"revert"} if the action is itself a revert | {"reverted"} if it was reverted
--       | {"known"} if there is another appeal | {"unauthenticated"}
local text = ARGV[8]
local author = any_actor() -- also one who is banned
if not author then return {"unauthenticated"} end

local action, number = KEY.action .. ARGV[7], ARGV[7]
local kind, subject, group, reverted_by =
  unpack(redis.call("HMGET", action, "kind", "subject", "group", "reverted_by"))
if not kind then return {"missing"} end
local type, id = string.match(subject, "^(%l+):(.*)$")

-- The name of whom the action is about; nil if it is gone.
local function concerned()
  if type == "user" then return id end
  return redis.call("HGET", (type == "article" and KEY.article or KEY.comment) .. id, "poster")
end

-- The groups any of whose moderators could revert the action: that in whose name it was done, or all of the article of a
-- comment. A whole article in several groups is for moderators of the site; roles are for admins.
local function places()
  if type == "user" and kind ~= "ban" then return {} end
  if group and group ~= "" then return {group} end
  if type == "user" then return {} end
  local article = type == "article" and id or redis.call("HGET", KEY.comment .. id, "article")
  local groups = split(redis.call("HGET", KEY.article .. article, "groups") or "")
  return (type == "comment" or #groups == 1) and groups or {}
end

local name = concerned()
if not name then return {"missing"} end
if string.lower(name) ~= string.lower(author) then return {"forbidden"} end
if kind == "revert" then return {"revert"} end

local appeal = KEY.appeal .. number
local known = redis.call("HGET", appeal, "text")
if known and known ~= text then return {"known"} end
if not known and reverted_by then return {"reverted"} end
if known then return {"appealed", redis.call("HGETALL", action)} end

local groups = places()
local words = table.concat(groups, " ")
redis.call("HSET", appeal, "username", author, "at", ARGV[3], "text", text)
if words ~= "" then redis.call("HSET", appeal, "groups", words) end
set_waiting("appeals", number, now, groups, {})
local entry = append_text("appealed", author, "action", number, "text", text, "appealed_at", ARGV[3], "groups", words)
publish("appealed", number, "-", entry) -- "-": the event names nobody
return {"appealed", redis.call("HGETALL", action)}
