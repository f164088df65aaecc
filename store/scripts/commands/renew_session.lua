-- Extend a session that has not ended.
-- KEYS  1 session:{p}:DIGEST   2 sessions:{p}:NAME   3 closed:{p}
-- ARGV  1 username   2 digest of the session   3 its new end (unix milliseconds)   4 its lifetime (milliseconds)
-- Reply {"renewed"} | {"missing"}
if redis.call("EXISTS", KEYS[3]) == 1 then return redis.error_reply("CLOSED to writes") end
local known = redis.call("GET", KEYS[1])
if not known then return {"missing"} end
local bans = string.match(known, "^%S+ %d+( .*)$") or ""
redis.call("SET", KEYS[1], ARGV[1] .. " " .. ARGV[3] .. bans, "PX", ARGV[4])
redis.call("ZADD", KEYS[2], "XX", ARGV[3], ARGV[2])
redis.call("PEXPIRE", KEYS[2], ARGV[4])
return {"renewed"}
