-- Count the articles of some users of one partition, without those that are archived.
-- KEYS  1 timeline:{p}: (a username in lower case is appended)
-- ARGV  usernames
-- Reply the number of articles
local sum = 0
for _, name in ipairs(ARGV) do sum = sum + redis.call("ZCARD", KEYS[1] .. string.lower(name)) end
return sum
