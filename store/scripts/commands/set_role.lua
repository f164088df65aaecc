-- Grant a role to a user or revoke it, or revert such an action, if the actor is an admin. The user has the role if the newest
-- of these actions that was not reverted is a grant.
-- requires: actions, roles
-- ARGV  1-7 see roles.lua   8 username in lower case   9 slot of the user   10 grant_role, revoke_role or revert
--       11 role: admin or moderator   12 group, or ""   13 reason   14 note, or ""   15 number of the action to revert, or ""
-- Reply {"changed" | "same", number of the action or "", {field, value, ...}} | {"missing"} | {"refused"} | {"reverted"}
local moderator, roles = authority()
local kind, role, group, reverts = ARGV[10], ARGV[11], ARGV[12], ARGV[15]
if not is_admin(roles) then return {"refused"} end

local account, subject = KEY.user .. ARGV[8], "user:" .. ARGV[8]
local name, held = unpack(redis.call("HMGET", account, "name", "roles"))
if not name then return {"missing"} end
held = held or ""
local word = group ~= "" and role .. ":" .. group or role
local of_role = {role = role, group = group}

-- Since when the user has the role by the actions that were not reverted; nil if the user has not.
local function granted_at()
  local number, standing = standing_action(subject, "grant_role revoke_role", of_role)
  return standing == "grant_role" and redis.call("HGET", KEY.action .. number, "at")
end

-- Whether a word is a role in the place that changes: the site, or the group.
local function is_in_place(each)
  if group ~= "" then return string.find(each, ":" .. group .. "=", 1, true) ~= nil end
  return not string.find(each, ":", 1, true)
end

local number
if reverts ~= "" then
  local action = revertible(reverts)
  if not action then return {"reverted"} end
  number = record_revert(ARGV[9], reverts, action, moderator, ARGV[13], ARGV[14])
else
  if has_role(held, word) == (kind == "grant_role") then
    return action_reply("same", standing_action(subject, kind, of_role) or nil)
  end
  local fields = {role = role, group = group, reason = ARGV[13], note = ARGV[14]}
  number = record_action(ARGV[9], kind, subject, moderator, fields)
end

local words, since, latest = {}, granted_at(), nil
for each in string.gmatch(held, "%S+") do
  if string.sub(each, 1, #word + 1) ~= word .. "=" then words[#words + 1] = each end
end
if since then words[#words + 1] = word .. "=" .. since end
for _, each in ipairs(words) do
  if is_in_place(each) then latest = math.max(latest or 0, tonumber(string.match(each, "=(%d+)$"))) end
end
if words[1] then
  redis.call("HSET", account, "roles", table.concat(words, " "))
else
  redis.call("HDEL", account, "roles")
end
local index = KEY.moderators .. (group ~= "" and "group:" .. group or "site")
if latest then redis.call("ZADD", index, latest, name) else redis.call("ZREM", index, name) end
return action_reply("changed", number)
