-- Change whose a subject of an issuer is, if that is what the caller knows.
-- ARGV  1 digest of the subject   2 what is known of it, "" for nothing   3 what is to be stored, "" for nothing
-- Reply what is stored now: "reserved NAME" | "made NAME" | "gone" | ""
local key = KEY.identity .. ARGV[1]
local stored = redis.call("GET", key) or ""
if stored ~= ARGV[2] then return stored end
if redis.call("EXISTS", KEY.closed) == 1 then return redis.error_reply("CLOSED to writes") end
if ARGV[3] ~= "" then redis.call("SET", key, ARGV[3]) else redis.call("DEL", key) end
return ARGV[3]
