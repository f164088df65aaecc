-- Pin a listing: store its first positions as they are at an instant, for its next pages, unless that pin exists.
-- KEYS  of partition p: 1 pin:{p}:LISTING:INSTANT
-- ARGV  1 time to live (milliseconds)   then value, member of each position
-- Reply {"pinned"} | {"known"}
if redis.call("EXISTS", KEYS[1]) == 1 then return {"known"} end

for i = 2, #ARGV, 2 do redis.call("ZADD", KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call("PEXPIRE", KEYS[1], ARGV[1])
return {"pinned"}
