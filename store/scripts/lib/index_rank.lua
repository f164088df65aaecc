-- Function that finds the rank of a position in an index.

-- The number of members above a position, or, with `including`, at or above it. The position itself may be missing
-- from the index. A binary search among equal values, whose members are in descending order.
local function rank_of(key, value, member, including) --> number of members above, or with `including` at or above it
  local low = redis.call("ZCOUNT", key, "(" .. value, "+inf")
  local high = low + redis.call("ZCOUNT", key, value, value)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local other = redis.call("ZRANGE", key, middle, middle, "REV")[1]
    if other > member or including and other == member then low = middle + 1 else high = middle end
  end
  return low
end
