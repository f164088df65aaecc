-- Create or revoke a server key: the secret with which another server of the site makes requests.
-- replies kept in case the call is sent again, by status: done
-- KEYS  1 serverkeys:{0}, by name   2 closed:{0}, set while the partition takes no writes
-- ARGV  1 "create" or "revoke"   2 name   3 (create) digest of the secret, and now (unix milliseconds)
-- Reply {"done"} | {"taken"} | {"missing"}
local name = ARGV[2]
if redis.call("EXISTS", KEYS[2]) == 1 then return redis.error_reply("CLOSED to writes") end
if ARGV[1] == "revoke" then return {redis.call("HDEL", KEYS[1], name) == 1 and "done" or "missing"} end
return {redis.call("HSETNX", KEYS[1], name, ARGV[3]) == 1 and "done" or "taken"}
