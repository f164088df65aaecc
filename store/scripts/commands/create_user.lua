-- Create a user without a password, if the username is free: no user has it, or had it and was deleted.
-- requires: log_entry, name_digests
-- from log_entry: log_entry(log, events, at, kind, actor, subject, ...) -> entry id
-- from name_digests: pseudonym_of(departed, namekey, name) -> pseudonym | false
-- replies kept in case the call is sent again, by status: created
-- KEYS  1 user:{p}:NAME   2 closed:{p}, set while the partition takes no writes   3 log:{p}   4 channel events:{p}
--       5 departed:{p}, pseudonyms of deleted users by digest of the name   6 namekey:{p}, the secret for these digests
-- ARGV  1 username   2 when the user joined   3 now (both unix milliseconds)
--       4 a field of the hash that is set to 1, such as first_admin, if given
-- Reply {"created"} | {"taken"}
local username, joined, now, marked_field = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
if redis.call("EXISTS", KEYS[1]) == 1 then return {"taken"} end
if pseudonym_of(KEYS[5], KEYS[6], string.lower(username)) then return {"taken"} end
if redis.call("EXISTS", KEYS[2]) == 1 then return redis.error_reply("CLOSED to writes") end
redis.call("HSET", KEYS[1], "name", username, "joined", joined, "karma", 0)
if marked_field then redis.call("HSET", KEYS[1], marked_field, 1) end
log_entry(
  KEYS[3], KEYS[4], now, "registered", username, "user:" .. string.lower(username), "name", username, "joined", joined
)
return {"created"}
