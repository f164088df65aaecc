-- Read the comments above a comment, the nearest first.
-- KEYS  of partition p: 1 comment:{p}: (a number is appended)
-- ARGV  1 number of the comment   2 how many to read at most
-- Reply their numbers
local ancestors, number = {}, ARGV[1]
while #ancestors < tonumber(ARGV[2]) do
  number = redis.call("HGET", KEYS[1] .. number, "parent")
  if not number then break end
  ancestors[#ancestors + 1] = number
end
return ancestors
