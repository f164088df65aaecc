-- Change what is written about a group, if the actor moderates it. If an admin does it, the group is listed from then
-- on.
-- requires: article_indexes, log_entry, roles
-- from article_indexes: remove_if_empty(group)
-- from log_entry: log_entry(log, events, at, kind, actor, subject, ...) -> entry id
-- from roles: authority() -> (username, words of roles), moderates(roles, groups), is_admin(roles)
-- replies kept in case the call is sent again, by status (part 2 of the reply is read anew): edited without part 2
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       place: what is written about a group   groups: names of groups that are listed or have articles
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 the actor's roles, in words such as moderator:GROUP=TIME   8 name of the group
--       9 "unlisted" to take it from the list, or ""
--       10 from here on: each field to change, title or about, then its text; "" removes it
-- Reply {"edited" | "same", {field, value, ...}} | {"refused"}
local editor, roles = authority()
local name, key = ARGV[8], KEY.place .. ARGV[8]
if not moderates(roles, {name}) then return {"refused"} end

local FIELDS = {"created", "listed", "title", "about"}
local before = redis.call("HMGET", key, unpack(FIELDS))
local after = {}
for i, field in ipairs(FIELDS) do after[field] = before[i] or "" end
for i = 10, #ARGV, 2 do after[ARGV[i]] = ARGV[i + 1] end
if ARGV[9] == "unlisted" then
  after.listed = ""
elseif after.listed == "" and is_admin(roles) then
  after.listed = ARGV[3]
end

local is_changed, values = false, {}
for i, field in ipairs(FIELDS) do is_changed = is_changed or after[field] ~= (before[i] or "") end
if not is_changed then return {"same", redis.call("HGETALL", key)} end

if after.created == "" then after.created = ARGV[3] end
for _, field in ipairs(FIELDS) do
  if after[field] == "" then redis.call("HDEL", key, field) else redis.call("HSET", key, field, after[field]) end
  values[#values + 1] = field
  values[#values + 1] = after[field]
end
if after.listed ~= "" then redis.call("ZADD", KEY.groups, 0, name) else remove_if_empty(name) end
log_entry(KEY.log, KEY.events, ARGV[3], "group_edited", editor, "group:" .. name, unpack(values))
return {"edited", redis.call("HGETALL", key)}
