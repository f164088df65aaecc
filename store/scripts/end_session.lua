-- End a session.
-- KEYS  1 session:{p}:DIGEST   2 closed:{p}
-- ARGV  none
-- Reply {"ended"} | {"missing"}
if redis.call("EXISTS", KEYS[2]) == 1 then return redis.error_reply("CLOSED to writes") end
return {redis.call("DEL", KEYS[1]) == 1 and "ended" or "missing"}
