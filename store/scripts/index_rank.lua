-- Put before the scripts that count in an index.

-- How many members stand above a position, which need not be taken (or at it, with `including`): the rank where equal
-- values begin, then a binary search among those, which are in falling order.
local function rank_of(key, value, member, including)
  local low = redis.call("ZCOUNT", key, "(" .. value, "+inf")
  local high = low + redis.call("ZCOUNT", key, value, value)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local other = redis.call("ZRANGE", key, middle, middle, "REV")[1]
    if other > member or including and other == member then low = middle + 1 else high = middle end
  end
  return low
end
