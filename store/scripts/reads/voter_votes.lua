-- Read the votes of one voter on some articles of one partition.
-- KEYS  1 voted:{p}:   2 downvoted:{p}:
--       3 annulled:{p}:, votes that moderators have taken out of the counts (an article number is appended to each)
-- ARGV  1 voter   then article numbers
-- Reply 1, 0 or -1 for each article: what the voter has cast, also if it is annulled
local votes = {}
for i = 2, #ARGV do
  local vote = redis.call("SISMEMBER", KEYS[1] .. ARGV[i], ARGV[1]) - redis.call("SISMEMBER", KEYS[2] .. ARGV[i], ARGV[1])
  if vote == 0 then
    local annulled = redis.call("HGET", KEYS[3] .. ARGV[i], ARGV[1])
    vote = annulled and tonumber(string.match(annulled, "^%-?%d")) or 0
  end
  votes[i - 1] = vote
end
return votes
