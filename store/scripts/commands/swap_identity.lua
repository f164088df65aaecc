-- Store which user an identity belongs to (a person known to an identity provider: a subject of an issuer), if the
-- stored value is still the one that the caller has read.
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       identity: which user a person at a log-in provider is   closed: set while the partition takes no writes
-- ARGV  1 digest of the subject   2 what is known of it, "" for nothing   3 what is to be stored, "" for nothing
-- Reply what is stored now: "reserved NAME" before there is a user, then "made NAME" | "gone" if the user was deleted
--       | ""
local known, new = ARGV[2], ARGV[3]
local key = KEY.identity .. ARGV[1]
local stored = redis.call("GET", key) or ""
if stored ~= known then return stored end
if redis.call("EXISTS", KEY.closed) == 1 then return redis.error_reply("CLOSED to writes") end
if new ~= "" then redis.call("SET", key, new) else redis.call("DEL", key) end
return new
