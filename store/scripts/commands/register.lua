-- Create a user and open a session, if the username is free: no user has it, or had it and was deleted.
-- requires: log_entry, name_digests
-- KEYS  1 user:{p}:NAME   2 session:{p}:DIGEST   3 sessions:{p}:NAME   4 closed:{p}   5 log:{p}   6 channel events:{p}
--       7 departed:{p}   8 namekey:{p}
-- ARGV  1 username   2 password hash   3 now (unix milliseconds)   4 lifetime of the session (milliseconds)
--       5 when the session ends (unix milliseconds)   6 its digest
-- Reply {"registered"} | {"taken"}
--
-- If the reply is lost, the script is sent again and finds its own session: the digest is random.
if redis.call("EXISTS", KEYS[2]) == 1 then return {"registered"} end
if redis.call("EXISTS", KEYS[1]) == 1 then return {"taken"} end
if pseudonym_of(KEYS[7], KEYS[8], string.lower(ARGV[1])) then return {"taken"} end
if redis.call("EXISTS", KEYS[4]) == 1 then return redis.error_reply("CLOSED to writes") end
redis.call("HSET", KEYS[1], "name", ARGV[1], "password", ARGV[2], "joined", ARGV[3], "karma", 0)
redis.call("SET", KEYS[2], ARGV[1] .. " " .. ARGV[5], "PX", ARGV[4])
redis.call("ZADD", KEYS[3], ARGV[5], ARGV[6])
redis.call("PEXPIRE", KEYS[3], ARGV[4])
log_entry(
  KEYS[5], KEYS[6], ARGV[3], "registered", ARGV[1], "user:" .. string.lower(ARGV[1]), "name", ARGV[1], "joined", ARGV[3]
)
return {"registered"}
