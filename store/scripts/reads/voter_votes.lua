-- Read the votes of one voter on some articles of one partition.
-- KEYS  1 voted:{p}:   2 downvoted:{p}:   3 annulled:{p}: (an article number is appended to each)
-- ARGV  1 voter   then article numbers
-- Reply 1, 0 or -1 for each article: what the voter has cast, also if it is annulled
local votes, others, keys = {}, {}, {} -- of these the places of those without a vote that counts
for i = 2, #ARGV do
  local vote = redis.call("SISMEMBER", KEYS[1] .. ARGV[i], ARGV[1]) - redis.call("SISMEMBER", KEYS[2] .. ARGV[i], ARGV[1])
  votes[i - 1] = vote
  if vote == 0 then
    others[#others + 1] = i - 1
    keys[#keys + 1] = KEYS[3] .. ARGV[i]
  end
end
if keys[1] and redis.call("EXISTS", unpack(keys)) > 0 then -- one command for all, as nearly none has any
  for n, place in ipairs(others) do
    local annulled = redis.call("HGET", keys[n], ARGV[1])
    votes[place] = annulled and tonumber(string.match(annulled, "^%-?%d")) or 0
  end
end
return votes
