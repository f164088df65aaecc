-- Profiles: what users say about themselves, or an identity provider (an issuer of tokens) says about them.
-- requires: log_text
-- from prelude: publish(kind, number, name, id, ...)
-- from log_text: append_user_text(kind, actor, name, ...) -> entry id
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended

-- Changes fields of the profile of a user, and says so in the log; returns whether anything has changed. `changes` are a
-- list of fields, display_name, about or avatar_url, each followed by its text; "" removes it.
local function write_profile(name, changes)
  local lower_name, fields = string.lower(name), {"display_name", "about", "avatar_url"}
  local account = KEY.user .. lower_name
  local before, after = redis.call("HMGET", account, unpack(fields)), {}
  for i, field in ipairs(fields) do after[field] = before[i] or "" end
  for i = 1, #changes, 2 do after[changes[i]] = changes[i + 1] end

  local is_changed, values = false, {}
  for i, field in ipairs(fields) do
    is_changed = is_changed or after[field] ~= (before[i] or "")
    values[#values + 1] = field
    values[#values + 1] = after[field]
  end
  if not is_changed then return false end

  -- Texts are set first: a full store refuses what takes memory only as long as a script has removed nothing.
  for _, field in ipairs(fields) do
    if after[field] ~= "" then redis.call("HSET", account, field, after[field]) end
  end
  for _, field in ipairs(fields) do
    if after[field] == "" then redis.call("HDEL", account, field) end
  end
  local id = append_user_text("profile_edited", name, lower_name, unpack(values))
  publish("profile_edited", 0, name, id)
  return true
end
