-- Bans: what the actions of moderators say, in the field `bans` of a user and in all sessions of the user. Both have a word
-- for each place from which the user is banned: site=UNTIL or group:NAME=UNTIL (unix milliseconds, 0 for good).
-- requires: prelude, session_lists
-- from prelude: now (unix milliseconds)
-- from sessions: read_session(digest), session_text(name, ends, used, words)
local function place_of(group)
  return group and group ~= "" and "group:" .. group or "site"
end

-- Whether a ban ends later than another one. 0 is for good.
local function ends_later(ends, other)
  return other ~= 0 and (ends == 0 or ends > other)
end

-- The bans of a user that are neither reverted nor over: by place, the one that ends last, as {ends, number}.
local function standing_bans(subject)
  local found = {}
  for _, member in ipairs(redis.call("ZRANGE", KEY.actions .. "user:" .. subject, 0, -1)) do
    local number = string.format("%.0f", tonumber(member))
    local kind, ends, group, reverted_by =
      unpack(redis.call("HMGET", KEY.action .. number, "kind", "until", "group", "reverted_by"))
    ends = tonumber(ends)
    if kind == "ban" and not reverted_by and (ends == 0 or now < ends) then
      local place = place_of(group)
      local known = found[place]
      if not known or not ends_later(known.ends, ends) then found[place] = {ends = ends, number = number} end
    end
  end
  return found
end

-- The words of standing bans, by place.
local function words_of(found)
  local words = {}
  for place, ban in pairs(found) do words[#words + 1] = string.format("%s=%.0f", place, ban.ends) end
  table.sort(words)
  return table.concat(words, " ")
end

-- The words of bans that are not over.
local function words_that_stand(words)
  local found = {}
  for word, ends in string.gmatch(words, "(%S+=(%d+))") do
    if ends == "0" or now < tonumber(ends) then found[#found + 1] = word end
  end
  return table.concat(found, " ")
end

-- Writes the bans of a user as the actions say, in the user and in all sessions of the user.
local function write_bans(subject)
  local account, words = KEY.user .. subject, words_of(standing_bans(subject))
  if words ~= "" then
    redis.call("HSET", account, "bans", words)
  else
    redis.call("HDEL", account, "bans")
  end
  for _, digest in ipairs(redis.call("ZRANGE", KEY.sessions .. subject, 0, -1)) do
    local name, ends, used = read_session(digest)
    if name then redis.call("SET", KEY.session .. digest, session_text(name, ends, used, words), "KEEPTTL") end
  end
end
