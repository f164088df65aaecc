-- End a session.
-- requires: log_entry, session_lists
-- from log_entry: log_entry(log, events, at, kind, actor, subject, ...) -> entry id
-- from sessions: read_session(digest) -> (username, end, last use, bans) | nil
-- from session_lists: end_session(lower_name, digest)
-- flags: allow-oom
-- replies kept in case the call is sent again, by status: ended
-- KEY   keys of this partition (a share of the data) by kind
--       closed: set while the partition takes no writes
-- ARGV  1 digest of the session   2 now (unix milliseconds)
-- Reply {"ended"} | {"missing"}
local digest, now = ARGV[1], ARGV[2]
if redis.call("EXISTS", KEY.closed) == 1 then return redis.error_reply("CLOSED to writes") end
local name, ends = read_session(digest)
if not name then return {"missing"} end
end_session(string.lower(name), digest)
if tonumber(now) > tonumber(ends) then return {"missing"} end
log_entry(KEY.log, KEY.events, now, "session_ended", name, "user:" .. string.lower(name))
return {"ended"}
