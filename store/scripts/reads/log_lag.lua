-- Count the entries of a log that follow a position, up to a limit. Also read how old the first of them is, and the id of
-- the last one that is counted.
-- KEYS  of partition p: 1 log:{p}
-- ARGV  1 the position   2 the limit
-- Reply {number of entries, age of the first of them (milliseconds), id of the last of them, or the position}
local position, limit = ARGV[1], ARGV[2]
local found = redis.call("XRANGE", KEYS[1], "(" .. position, "+", "COUNT", limit)
if not found[1] then return {0, 0, position} end
local seconds, microseconds = unpack(redis.call("TIME"))
local age = seconds * 1000 + math.floor(microseconds / 1000) - tonumber(string.match(found[1][1], "^%d+"))
return {#found, math.max(age, 0), found[#found][1]}
