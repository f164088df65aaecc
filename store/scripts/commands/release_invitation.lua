-- Give an invitation back, if this call has it.
-- ARGV  1 digest of the invitation   2 the call
-- Reply {"released"}
local key = KEY.invitation .. ARGV[1]
local free, call = string.match(redis.call("GET", key) or "", "^(%d+ %d+) %S+ (%S+)$")
if call == ARGV[2] then redis.call("SET", key, free, "KEEPTTL") end
return {"released"}
