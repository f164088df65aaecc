-- Sessions that are opened, extended and ended, and the lists of a user's sessions. `lower_name` is a username in lower
-- case, and `digest` that of the session's token.
-- requires: sessions
-- from sessions: session_text(name, ends, used, words) -> text
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       sessions: a user's sessions, by when they end   logins: details of a user's sessions

-- Deletes a session, and removes it from the lists of its user.
local function end_session(lower_name, digest)
  redis.call("DEL", KEY.session .. digest)
  redis.call("ZREM", KEY.sessions .. lower_name, digest)
  redis.call("HDEL", KEY.logins .. lower_name, digest)
end

-- Ends all sessions of a user, except the one with the digest `kept` if that is given.
local function end_sessions(lower_name, kept)
  for _, digest in ipairs(redis.call("ZRANGE", KEY.sessions .. lower_name, 0, -1)) do
    if digest ~= kept then end_session(lower_name, digest) end
  end
end

-- Writes a session, and lists it. The lists live as long as the last session of the user. `words` are those of the user's bans.
-- `details` is ID OPENED AGENT, or "" for a session of an earlier version; `at` is now.
local function write_session(digest, name, ends, used, words, details, at)
  local lower_name = string.lower(name)
  local sessions, logins = KEY.sessions .. lower_name, KEY.logins .. lower_name
  redis.call("SET", KEY.session .. digest, session_text(name, ends, used, words), "PX", math.max(1, ends - at))
  for _, ended in ipairs(redis.call("ZRANGE", sessions, "-inf", "(" .. at, "BYSCORE")) do end_session(lower_name, ended) end
  redis.call("ZADD", sessions, ends, digest)
  if details ~= "" then redis.call("HSET", logins, digest, details) end
  local lifetime = math.max(1, redis.call("ZRANGE", sessions, 0, 0, "REV", "WITHSCORES")[2] - at)
  redis.call("PEXPIRE", sessions, lifetime)
  redis.call("PEXPIRE", logins, lifetime)
end
