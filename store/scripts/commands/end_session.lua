-- End a session.
-- KEYS  1 session:{p}:DIGEST   2 closed:{p}
-- ARGV  1 now (unix milliseconds)
-- Reply {"ended"} | {"missing"}
if redis.call("EXISTS", KEYS[2]) == 1 then return redis.error_reply("CLOSED to writes") end
local ends = string.match(redis.call("GET", KEYS[1]) or "", "^%S+ (%d+)")
redis.call("DEL", KEYS[1])
return {ends and tonumber(ARGV[1]) <= tonumber(ends) and "ended" or "missing"}
