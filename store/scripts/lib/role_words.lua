-- Writes the roles of a user. The actions of moderators say which roles were granted or revoked; the field `roles` of
-- the user and the indexes of moderators repeat it.
-- requires: actions, roles
-- from actions: standing_action(subject, kinds, wanted) -> (number, kind) | nil
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       moderators: who has a role, by time

-- The word of a role in the field `roles`, without the time.
local function role_word(role, group) --> text
  return group ~= "" and role .. ":" .. group or role
end

-- Since when a user has a role by the actions that were not reverted; false if the user has not.
local function granted_at(lower_name, role, group)
  local number, standing =
    standing_action("user:" .. lower_name, "grant_role revoke_role", {role = role, group = group})
  return standing == "grant_role" and redis.call("HGET", KEY.action .. number, "at")
end

-- Whether a word of the field `roles` is a role in a group, or with "" on the site.
local function is_in_place(word, group)
  if group ~= "" then return string.find(word, ":" .. group .. "=", 1, true) ~= nil end
  return not string.find(word, ":", 1, true)
end

-- Writes whether a user, given by the name in lower case and as written, has a role, as the actions say.
local function write_role(lower_name, name, role, group)
  local account, word = KEY.user .. lower_name, role_word(role, group)
  local words, since, latest = {}, granted_at(lower_name, role, group), nil
  for each in string.gmatch(redis.call("HGET", account, "roles") or "", "%S+") do
    if string.sub(each, 1, #word + 1) ~= word .. "=" then words[#words + 1] = each end
  end
  if since then words[#words + 1] = word .. "=" .. since end
  for _, each in ipairs(words) do
    if is_in_place(each, group) then latest = math.max(latest or 0, tonumber(string.match(each, "=(%d+)$"))) end
  end
  if words[1] then
    redis.call("HSET", account, "roles", table.concat(words, " "))
  else
    redis.call("HDEL", account, "roles")
  end
  local index = KEY.moderators .. (group ~= "" and "group:" .. group or "site")
  if latest then redis.call("ZADD", index, latest, name) else redis.call("ZREM", index, name) end
end
