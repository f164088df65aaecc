-- Note that a mail server has refused an address of a user for good.
-- ARGV  1 username in lower case   2 the address
-- Reply {"noted"} | {"gone"}: the user has another address meanwhile
local box = KEY.mailbox .. ARGV[1]
if redis.call("EXISTS", KEY.closed) == 1 then return redis.error_reply("CLOSED to writes") end
local email, pending = unpack(redis.call("HMGET", box, "email", "pending"))
if email ~= ARGV[2] and pending ~= ARGV[2] then return {"gone"} end
redis.call("HSET", box, "unusable", ARGV[2])
return {"noted"}
