-- Change a password, and end all other sessions and all one-time tokens of its user.
-- requires: log_entry, one_time_tokens, session_lists
-- from log_entry: log_entry(log, events, at, kind, actor, subject, ...) -> entry id
-- from one_time_tokens: end_tokens(lower_name, kept)
-- from session_lists: end_sessions(lower_name, kept)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       closed: set while the partition takes no writes
-- ARGV  1 the password hash that was verified   2 the new hash   3 digest of the session to keep   4 username
--       5 now (unix milliseconds)
-- Reply {"done"} | {"changed"} if the stored hash is no longer the verified one. Fails with BANNED if a ban of the user
-- from the site stands
--
-- If the reply is lost, the script is sent again and finds the new hash, which is salted and therefore unique.
local verified_hash, new_hash, username, now = ARGV[1], ARGV[2], ARGV[4], ARGV[5]
local lower_name = string.lower(username)
local account = KEY.user .. lower_name
local known, bans = unpack(redis.call("HMGET", account, "password", "bans"))
if known == new_hash then return {"done"} end
if known ~= verified_hash then return {"changed"} end
if redis.call("EXISTS", KEY.closed) == 1 then return redis.error_reply("CLOSED to writes") end
local banned_until = string.match(" " .. (bans or ""), " site=(%d+)")
if banned_until and (banned_until == "0" or tonumber(now) < tonumber(banned_until)) then
  return redis.error_reply("BANNED " .. banned_until .. " -") -- "-": from the site, not from a group
end
redis.call("HSET", account, "password", new_hash)
local kept_session = ARGV[3]
end_sessions(lower_name, kept_session)
end_tokens(lower_name)
log_entry(KEY.log, KEY.events, now, "password_changed", username, "user:" .. lower_name)
return {"done"}
