-- Find the ranks of some positions in an index of one partition, and the entry just above each.
-- requires: index_rank
-- KEYS  1 the index
-- ARGV  value and member of each position
-- Reply for each position: number of entries above it, member and value of the lowest of them, or "" and ""
local reply = {}
for i = 1, #ARGV, 2 do
  local rank = rank_of(KEYS[1], ARGV[i], ARGV[i + 1], false)
  local next = rank > 0 and redis.call("ZRANGE", KEYS[1], rank - 1, rank - 1, "REV", "WITHSCORES") or {"", ""}
  reply[#reply + 1] = rank
  reply[#reply + 1] = next[1]
  reply[#reply + 1] = next[2]
end
return reply
