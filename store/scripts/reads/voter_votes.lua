-- Read the votes of one voter on some articles of one partition.
-- KEYS  1 voted:{p}:   2 downvoted:{p}: (an article number is appended to both)
-- ARGV  1 voter   then article numbers
-- Reply 1, 0 or -1 for each article
local votes = {}
for i = 2, #ARGV do
  votes[i - 1] = redis.call("SISMEMBER", KEYS[1] .. ARGV[i], ARGV[1])
    - redis.call("SISMEMBER", KEYS[2] .. ARGV[i], ARGV[1])
end
return votes
