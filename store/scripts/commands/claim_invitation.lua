-- Claim an invitation for a registration, unless a registration of another username has claimed it.
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       closed: set while the partition takes no writes   invitation: an invitation to register
-- ARGV  1 digest of the invitation   2 username in lower case   3 the call: a text that names this registration
--       4 now (unix milliseconds)
-- Reply {"claimed"} | {"bad"} if it is unknown, has ended, or is claimed for another username
local username = ARGV[2]
if redis.call("EXISTS", KEY.closed) == 1 then return redis.error_reply("CLOSED to writes") end
-- The value is "ENDS SLOT" of an invitation that is free, and "ENDS SLOT NAME CALL" of one that is claimed.
local key = KEY.invitation .. ARGV[1]
local ends, slot, name = string.match(redis.call("GET", key) or "", "^(%d+) (%d+) ?(%S*)")
if not ends or tonumber(ARGV[4]) > tonumber(ends) then return {"bad"} end
if name == "" then
  redis.call("SET", key, table.concat({ends, slot, username, ARGV[3]}, " "), "KEEPTTL")
  return {"claimed"}
end
if name ~= username then return {"bad"} end
return {"claimed"}
