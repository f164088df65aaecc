-- Write the idempotency key of a post or a comment, unless the article or the comment is missing.
-- KEYS  of partition p: 1 posted:{p}:NAME:DIGEST or commented:{p}:NAME:DIGEST   2 article:{p}:N or comment:{p}:N
-- ARGV  1 value: number, time and digest of the input   2 time to live (milliseconds)
-- Reply {"restored"} | {"missing"}
if redis.call("EXISTS", KEYS[2]) == 0 then return {"missing"} end
redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
return {"restored"}
