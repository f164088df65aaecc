-- The sessions of a user.
-- requires: sessions
-- from sessions: acting_user(name, digest, now) -> username | nil,
--   read_session(digest) -> (username, end, last use, bans) | nil,
--   session_details(lower_name, digest) -> (id, logged in at, agent)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       sessions: a user's sessions, by when they end
-- ARGV  1 digest of a session of the user, or ""   2 now (unix milliseconds)
--       3 username of who acts, if that is not by a session, else ""
-- Reply {{id, when it was opened, when it was used last (unix milliseconds), or "" if they are not known, agent, when it
--       ends (unix milliseconds), "own" or ""}, ...}, empty if the session has ended
local own_digest, now, username = ARGV[1], ARGV[2], ARGV[3]
local name = acting_user(username, own_digest, now)
if not name then return {} end
local lower_name, listed = string.lower(name), {}
for _, digest in ipairs(redis.call("ZRANGE", KEY.sessions .. lower_name, "(" .. now, "+inf", "BYSCORE")) do
  local session_name, session_end, used = read_session(digest)
  if session_name then
    local id, opened, agent = session_details(lower_name, digest)
    listed[#listed + 1] = {id, opened, used, agent, session_end, digest == own_digest and "own" or ""}
  end
end
return listed
