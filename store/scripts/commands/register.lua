-- Create a user and open a session, if the username is free: no user has it, or had it and was deleted.
-- requires: log_entry, name_digests, session_lists
-- from log_entry: log_entry(log, events, at, kind, actor, subject, ...) -> entry id
-- from name_digests: pseudonym_of(departed, namekey, name) -> pseudonym | false
-- from session_lists: write_session(digest, name, ends, used, words, details, at)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       departed: pseudonyms of deleted users, by digest of the name   namekey: the secret for digests of names
--       closed: set while the partition takes no writes
-- ARGV  1 username   2 password hash   3 now (unix milliseconds)   4 digest of the session
--       5 when the session ends (unix milliseconds)   6 its id, now and its agent, separated by spaces
-- Reply {"registered"} | {"taken"}
--
-- If the reply is lost, the script is sent again and finds its own session: the digest is random.
local username, password_hash, now, session, ends, details = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local lower_name = string.lower(username)
local account = KEY.user .. lower_name
if redis.call("EXISTS", KEY.session .. session) == 1 then return {"registered"} end
if redis.call("EXISTS", account) == 1 then return {"taken"} end
if pseudonym_of(KEY.departed, KEY.namekey, lower_name) then return {"taken"} end
if redis.call("EXISTS", KEY.closed) == 1 then return redis.error_reply("CLOSED to writes") end
redis.call("HSET", account, "name", username, "password", password_hash, "joined", now, "karma", 0)
local NO_BANS, last_used = "", now
write_session(session, username, ends, last_used, NO_BANS, details, now)
log_entry(KEY.log, KEY.events, now, "registered", username, "user:" .. lower_name, "name", username, "joined", now)
return {"registered"}
