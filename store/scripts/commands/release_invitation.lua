-- Release an invitation that a registration has claimed and does not use, so that another one can claim it. Does nothing if
-- another registration holds it.
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       invitation: an invitation to register
-- ARGV  1 digest of the invitation   2 the call: a text that names this registration
-- Reply {"released"}
-- The value is "ENDS SLOT" of an invitation that is free, and "ENDS SLOT NAME CALL" of one that is claimed.
local key = KEY.invitation .. ARGV[1]
local free, call = string.match(redis.call("GET", key) or "", "^(%d+ %d+) %S+ (%S+)$")
if call == ARGV[2] then redis.call("SET", key, free, "KEEPTTL") end
return {"released"}
