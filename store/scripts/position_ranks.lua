-- How many of one partition stand above each of some places of an index, and which is the nearest of them.
-- KEYS  1 the index
-- ARGV  1 value and 2 member of the first place, and so on
-- Reply {how many, member, value; ...} for each place; without any, member and value are ""
local reply = {}
for i = 1, #ARGV, 2 do
  local rank = rank_of(KEYS[1], ARGV[i], ARGV[i + 1], false)
  local next = rank > 0 and redis.call("ZRANGE", KEYS[1], rank - 1, rank - 1, "REV", "WITHSCORES") or {"", ""}
  reply[#reply + 1] = rank
  reply[#reply + 1] = next[1]
  reply[#reply + 1] = next[2]
end
return reply
