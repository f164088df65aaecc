-- End another session of a user, or all others.
-- requires: log_entry, session_lists
-- from log_entry: log_entry(log, events, at, kind, actor, subject, ...) -> entry id
-- from sessions: acting_user(name, digest, now) -> username | nil,
--   session_details(lower_name, digest) -> (id, logged in at, agent)
-- from session_lists: end_sessions(lower_name, kept), end_session(lower_name, digest)
-- flags: allow-oom
-- replies kept in case the call is sent again, by status: ended
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       closed: set while the partition takes no writes   sessions: a user's sessions, by when they end
-- ARGV  1 digest of the session that acts, or ""   2 now (unix milliseconds)
--       3 id of the session to end, or "" for all others   4 username of who acts, if that is not by a session, else ""
-- Reply {"ended", "own" if it was the session that acts, else ""} | {"missing"} | {"unauthenticated"}
local own_digest, now, wanted_id, username = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
if redis.call("EXISTS", KEY.closed) == 1 then return redis.error_reply("CLOSED to writes") end
local name = acting_user(username, own_digest, now)
if not name then return {"unauthenticated"} end

local lower_name, own, found = string.lower(name), "", false
if wanted_id == "" then
  found = true
  end_sessions(lower_name, own_digest)
else
  for _, digest in ipairs(redis.call("ZRANGE", KEY.sessions .. lower_name, "(" .. now, "+inf", "BYSCORE")) do
    if session_details(lower_name, digest) == wanted_id then
      found = true
      if digest == own_digest then own = "own" end
      end_session(lower_name, digest)
    end
  end
end
if not found then return {"missing"} end
log_entry(KEY.log, KEY.events, now, "session_ended", name, "user:" .. lower_name)
return {"ended", own}
