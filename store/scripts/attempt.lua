-- Count an attempt, unless there were too many within the window. Whoever succeeds takes theirs back.
-- KEYS  1 attempts:{p}:DIGEST
-- ARGV  1 id of the attempt   2 now (unix milliseconds)   3 window (milliseconds)   4 attempts within it
-- Reply {"counted"} | {"limited", when the next one is free (unix milliseconds)}
local now, window, most = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", now - window)
if redis.call("ZCARD", KEYS[1]) >= most then
  local freeing = redis.call("ZRANGE", KEYS[1], -most, -most, "WITHSCORES")
  return {"limited", string.format("%.0f", freeing[2] + window)}
end
redis.call("ZADD", KEYS[1], now, ARGV[1])
redis.call("PEXPIRE", KEYS[1], window)
return {"counted"}
