-- Use up a token to set the password of its user. Open a session, and end all other sessions and tokens of the user.
-- requires: log_entry, one_time_tokens, session_lists
-- from log_entry: log_entry(log, events, at, kind, actor, subject, ...) -> entry id
-- from one_time_tokens: use_token(digest, purpose, call, at) -> (name, detail, is repeated) | nil, end_tokens(lower_name, kept)
-- from session_lists: end_sessions(lower_name, kept), write_session(digest, name, ends, used, words, details, at)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       closed: set while the partition takes no writes
-- ARGV  1 digest of the token   2 the password hash   3 now (unix milliseconds)   4 digest of the session
--       5 when the session ends (unix milliseconds)   6 its id, now and its agent, separated by spaces
-- Reply {"reset"} | {"bad"}
--
-- The session names the call: if the reply is lost, the script is sent again and finds that it has used the token.
local token, password_hash, now, session = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local ends, details = ARGV[5], ARGV[6]
if redis.call("EXISTS", KEY.closed) == 1 then return redis.error_reply("CLOSED to writes") end
local name, _, is_repeated = use_token(token, "reset", session, now)
if not name then return {"bad"} end
if is_repeated then return {"reset"} end

local lower_name = string.lower(name)
local account = KEY.user .. lower_name
redis.call("HSET", account, "password", password_hash)
end_sessions(lower_name)
end_tokens(lower_name, token)
local bans, last_used = redis.call("HGET", account, "bans") or "", now
write_session(session, name, ends, last_used, bans, details, now)
log_entry(KEY.log, KEY.events, now, "password_changed", name, "user:" .. lower_name)
return {"reset"}
