-- Keep the first places of a listing as they stand at an instant, unless somebody was faster.
-- KEYS  1 pin
-- ARGV  1 how long to keep them (milliseconds)   then value, member of each
-- Reply {"pinned"} | {"known"}
if redis.call("EXISTS", KEYS[1]) == 1 then return {"known"} end

for i = 2, #ARGV, 2 do redis.call("ZADD", KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call("PEXPIRE", KEYS[1], ARGV[1])
return {"pinned"}
