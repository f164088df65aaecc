-- Open a session for a user, if the password hash is still the one that was verified.
-- KEYS  1 user:{p}:NAME   2 session:{p}:DIGEST   3 sessions:{p}:NAME   4 closed:{p}
-- ARGV  1 the password hash that was verified, or ""   2 username   3 digest of the session
--       4 now (unix milliseconds)   5 when the session ends (unix milliseconds)   6 its lifetime (milliseconds)
--       7 the words of the user's bans, if they are not those of the user's hash, which may not be restored yet
-- Reply {"opened"} | {"changed"} if the stored hash is no longer the verified one, or the user is being deleted
if ARGV[1] ~= "" and redis.call("HGET", KEYS[1], "password") ~= ARGV[1] then return {"changed"} end
if redis.call("HEXISTS", KEYS[1], "left") == 1 then return {"changed"} end
if redis.call("EXISTS", KEYS[4]) == 1 then return redis.error_reply("CLOSED to writes") end
local bans = ARGV[7] or redis.call("HGET", KEYS[1], "bans") or ""
redis.call("SET", KEYS[2], ARGV[2] .. " " .. ARGV[5] .. (bans ~= "" and " " .. bans or ""), "PX", ARGV[6])
redis.call("ZREMRANGEBYSCORE", KEYS[3], "-inf", ARGV[4])
redis.call("ZADD", KEYS[3], ARGV[5], ARGV[3])
redis.call("PEXPIRE", KEYS[3], ARGV[6])
return {"opened"}
