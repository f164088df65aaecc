-- How many entries of a log follow a position, counted up to a limit, and how old the first of them is.
-- KEYS  1 log:{p}
-- ARGV  1 the position   2 the limit
-- Reply {number of entries, age of the first of them (milliseconds)}
local first = redis.call("XRANGE", KEYS[1], "(" .. ARGV[1], "+", "COUNT", 1)[1]
if not first then return {0, 0} end
local seconds, microseconds = unpack(redis.call("TIME"))
local age = seconds * 1000 + math.floor(microseconds / 1000) - tonumber(string.match(first[1], "^%d+"))
return {#redis.call("XRANGE", KEYS[1], "(" .. ARGV[1], "+", "COUNT", ARGV[2]), math.max(age, 0)}
