-- Change what a user has written about themselves.
-- requires: log_text
-- ARGV  1-6 see prelude.lua   7 from here on: each field to change, display_name, about or avatar_url, then its text;
--       "" removes it
-- Reply {"edited" | "same", username} | {"unauthenticated"}
local name = actor()
if not name then return {"unauthenticated"} end
local subject, fields = string.lower(name), {"display_name", "about", "avatar_url"}
local account = KEY.user .. subject

local before, after = redis.call("HMGET", account, unpack(fields)), {}
for i, field in ipairs(fields) do after[field] = before[i] or "" end
for i = 7, #ARGV, 2 do after[ARGV[i]] = ARGV[i + 1] end

local is_changed, values = false, {}
for i, field in ipairs(fields) do
  is_changed = is_changed or after[field] ~= (before[i] or "")
  values[#values + 1] = field
  values[#values + 1] = after[field]
end
if not is_changed then return {"same", name} end

for _, field in ipairs(fields) do
  if after[field] == "" then redis.call("HDEL", account, field) else redis.call("HSET", account, field, after[field]) end
end
local id = append_user_text("profile_edited", name, subject, unpack(values))
redis.call("PUBLISH", KEY.events, table.concat({"profile_edited", "0", name, id}, " "))
return {"edited", name}
