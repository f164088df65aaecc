-- Read the places of a page of a home that are in some indexes of one partition, by an order whose values do not decay.
-- requires: home_places, index_rank
-- KEYS  see home_places.lua
-- ARGV  1 lowest value of the listing, or ""   2 a weight that the values depend on, if these are indexes of groups, or ""
--       3-5 ""   6-12 see home_places.lua
-- Reply see home_places.lua

-- The indexes. In the place of that of a group with such a weight of its own, which is active here, there is that by the
-- weights of the site.
local function site_ranked()
  local found, groups = {unpack(KEYS, 5)}, {}
  if ARGV[2] == "" or redis.call("EXISTS", KEYS[3]) == 0 then return found end
  for i, key in ipairs(found) do groups[i] = string.match(key, ":([^:]+):[^:]+$") end
  for i, weights in ipairs(redis.call("HMGET", KEYS[3], unpack(groups))) do
    if weights and string.find(weights, ARGV[2] .. "=", 1, true) then
      found[i] = KEYS[4] .. string.match(found[i], "[^:]+:[^:]+$")
    end
  end
  return found
end

-- An index with the ranks, from the highest value on, that are left to read: `first` to `last`, which need not exist.
local function opened(key)
  local index = {key = key, first = 0, last = math.huge}
  if not is_down then index.last = redis.call("ZCARD", key) - 1 end
  if ARGV[1] ~= "" then index.last = redis.call("ZCOUNT", key, ARGV[1], "+inf") - 1 end
  if from and index.last >= 0 then
    local rank = rank_of(key, ARGV[8], from_member, is_down)
    if is_down then index.first = rank else index.last = math.min(index.last, rank - 1) end
  end
  index.is_open = index.first <= index.last
  return index
end

local function read_more(index)
  local first, last = index.first, math.min(index.last, index.first + index.count - 1)
  if not is_down then first, last = math.max(index.first, index.last - index.count + 1), index.last end
  local flat = redis.call("ZRANGE", index.key, first, last, "REV", "WITHSCORES")
  local found = {}
  for i = 1, #flat, 2 do found[#found + 1] = {tonumber(flat[i + 1]), flat[i], flat[i + 1]} end
  add_near(index, nil, found)
  if is_down then index.first = last + 1 else index.last = first - 1 end
  index.is_open = #flat == 2 * (last - first + 1) and index.first <= index.last
  index.count = 2 * index.count
  if index.is_open then index.stop = found[is_down and #found or 1] end
end

local indexes = {}
for _, key in ipairs(site_ranked()) do
  local index = opened(key)
  if index.is_open then indexes[#indexes + 1] = index end
end
return reply_of_places(indexes, read_more)
