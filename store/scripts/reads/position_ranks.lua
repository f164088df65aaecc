-- Find the ranks of some positions in an index of one partition, and the entry just above each.
-- requires: index_rank
-- from index_rank: rank_of(key, value, member, including) -> number of members above, or with `including` at or above it
-- KEYS  1 the index
-- ARGV  value and member of each position. A member that has risen since its value was read does not count as above its
--       own position.
-- Reply for each position: number of entries above it, member and value of the lowest of them, or "" and ""
local function has_risen(value, member)
  local now = redis.call("ZSCORE", KEYS[1], member)
  return now and tonumber(now) > tonumber(value)
end

local reply = {}
for i = 1, #ARGV, 2 do
  local value, member = ARGV[i], ARGV[i + 1]
  local rank = rank_of(KEYS[1], value, member, false)
  local above = rank > 0 and redis.call("ZRANGE", KEYS[1], math.max(rank - 2, 0), rank - 1, "REV", "WITHSCORES") or {}
  if rank > 0 and has_risen(value, member) then
    rank = rank - 1
    if above[#above - 1] == member then above[#above], above[#above - 1] = nil, nil end
  end
  reply[#reply + 1] = rank
  reply[#reply + 1] = rank > 0 and above[#above - 1] or ""
  reply[#reply + 1] = rank > 0 and above[#above] or ""
end
return reply
