-- Note that a mail server has refused an address of a user for good.
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       mailbox: a user's addresses   closed: set while the partition takes no writes
-- ARGV  1 username in lower case   2 the address
-- Reply {"noted"} | {"gone"}: the user has another address meanwhile
local username, address = ARGV[1], ARGV[2]
local box = KEY.mailbox .. username
if redis.call("EXISTS", KEY.closed) == 1 then return redis.error_reply("CLOSED to writes") end
local email, pending = unpack(redis.call("HMGET", box, "email", "pending"))
if email ~= address and pending ~= address then return {"gone"} end
redis.call("HSET", box, "unusable", address)
return {"noted"}
