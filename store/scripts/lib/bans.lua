-- Bans of users. The actions of moderators say which there are; the field `bans` of a user and all sessions of the user
-- repeat it, with a word for each place from which the user is banned: site=UNTIL or group:NAME=UNTIL (unix
-- milliseconds, 0 for good). `lower_name` is a username in lower case.
-- requires: prelude, session_lists
-- from prelude: now (unix milliseconds)
-- from sessions: read_session(digest) -> (username, end, last use, bans) | nil, session_text(name, ends, used, words) -> text
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       actions: actions of moderators, by time   sessions: a user's sessions, by when they end
local function place_of(group) --> site | group:NAME
  return group and group ~= "" and "group:" .. group or "site"
end

-- Whether a ban that ends at one instant lasts longer than one that ends at another; 0 is for good.
local function ends_later(ends, other)
  return other ~= 0 and (ends == 0 or ends > other)
end

-- The bans of a user that are neither reverted nor over: by place, the one that ends last, as a table with its end and
-- the number of its action.
local function standing_bans(lower_name) --> {ends, number} by place
  local found = {}
  for _, member in ipairs(redis.call("ZRANGE", KEY.actions .. "user:" .. lower_name, 0, -1)) do
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

-- The words of bans that `standing_bans` has found, sorted.
local function words_of(found) --> text
  local words = {}
  for place, ban in pairs(found) do words[#words + 1] = string.format("%s=%.0f", place, ban.ends) end
  table.sort(words)
  return table.concat(words, " ")
end

-- Those words of bans, site=UNTIL or group:NAME=UNTIL, whose bans are not over.
local function words_that_stand(words) --> text
  local found = {}
  for word, ends in string.gmatch(words, "(%S+=(%d+))") do
    if ends == "0" or now < tonumber(ends) then found[#found + 1] = word end
  end
  return table.concat(found, " ")
end

-- Writes the bans of a user as the actions say, in the user and in all sessions of the user.
local function write_bans(lower_name)
  local account, words = KEY.user .. lower_name, words_of(standing_bans(lower_name))
  if words ~= "" then
    redis.call("HSET", account, "bans", words)
  else
    redis.call("HDEL", account, "bans")
  end
  for _, digest in ipairs(redis.call("ZRANGE", KEY.sessions .. lower_name, 0, -1)) do
    local name, ends, used = read_session(digest)
    if name then redis.call("SET", KEY.session .. digest, session_text(name, ends, used, words), "KEEPTTL") end
  end
end
