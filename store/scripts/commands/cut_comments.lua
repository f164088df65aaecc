-- Cut the oldest comments off the list of a user who has many, once the database has them.
-- flags: allow-oom
-- KEYS  of the user's partition, q: 1 closed:{q}, set while it takes no writes   2 user:{q}:NAME   3 comments:{q}:NAME
-- ARGV  1 when the newest of them was posted (unix milliseconds)   2 from here on: their members
-- Reply {"cut", how many}, 0 if there is no such account
if redis.call("EXISTS", KEYS[1]) == 1 then return redis.error_reply("CLOSED to writes") end
if redis.call("EXISTS", KEYS[2]) == 0 then return {"cut", 0} end
local floor = redis.call("HGET", KEYS[2], "older_comments") or "0" -- the time up to which the list lacks comments
if tonumber(ARGV[1]) > tonumber(floor) then redis.call("HSET", KEYS[2], "older_comments", ARGV[1]) end
return {"cut", redis.call("ZREM", KEYS[3], unpack(ARGV, 2))}
