-- Read the places of a page of a home that are in some indexes of one partition, by an order whose values do not decay.
-- requires: home_places, index_rank
-- from home_places: is_down (the direction of the page),
--   from (the value of the position beyond which they are, nil without one), from_member (its member),
--   add_place(member, value), left (articles that may still be read), wanted (how many places the page takes), last_wanted(),
--   comes_first(one, other), stops ({value, member} of the places at which listings stopped that have more),
--   reply_of_places(count)
-- from index_rank: rank_of(key, value, member, including)
-- KEYS  see home_places.lua
-- ARGV  1 lowest value of the listing, or ""   2 a weight that the values depend on, if these are indexes of groups, or ""
--       3-5 ""   6-13 see home_places.lua
-- Reply see home_places.lua
--
-- It reads a few places of each index, and then more of those that may still have one that comes before the last. While
-- much is hidden, the last is not known yet: then it reads more of those indexes that have come the least far.
local lowest = tonumber(ARGV[1])
local order = is_down and {"REV", "WITHSCORES"} or {"WITHSCORES"}

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

-- The rank in an index, in the direction of the page, of the first place beyond the position.
local function first_rank(key)
  local first = 0
  if from then
    first = rank_of(key, ARGV[8], from_member, is_down)
    if not is_down then first = redis.call("ZCARD", key) - first end
  end
  if lowest and not is_down then first = math.max(first, redis.call("ZCOUNT", key, "-inf", "(" .. ARGV[1])) end
  return first
end

-- Reads the next places of an index, which then has more only if there are as many.
local function read_more(each)
  local flat = redis.call("ZRANGE", each.key, each.next, each.next + each.count - 1, unpack(order))
  each.has_more = #flat == 2 * each.count
  for i = 1, #flat, 2 do
    local value = tonumber(flat[i + 1])
    if lowest and value < lowest then
      each.has_more = false
      break
    end
    add_place(flat[i], flat[i + 1])
    each.stop = {value, flat[i]}
  end
  each.next, each.count, left = each.next + each.count, 2 * each.count, left - #flat / 2
end

-- Of some indexes those that have come the least far: half of them, or more with the same value.
local function furthest_behind(open)
  local values, found = {}, {}
  for i, each in ipairs(open) do values[i] = is_down and -each.stop[1] or each.stop[1] end
  table.sort(values)
  local middle = values[math.ceil(#values / 2)]
  for _, each in ipairs(open) do
    if (is_down and -each.stop[1] or each.stop[1]) <= middle then found[#found + 1] = each end
  end
  return found
end

local indexes, keys = {}, site_ranked()
local count = math.min(wanted, math.max(2, math.ceil(2 * wanted / #keys)))
for i, key in ipairs(keys) do indexes[i] = {key = key, next = first_rank(key), count = count} end
local open = indexes
while open[1] do
  for _, each in ipairs(open) do read_more(each) end
  local last, may_matter = last_wanted(), {}
  for _, each in ipairs(indexes) do
    if each.has_more and (not last or comes_first(each.stop, last)) then may_matter[#may_matter + 1] = each end
  end
  if left <= 0 then break end
  open = last and may_matter or furthest_behind(may_matter)
end
for _, each in ipairs(indexes) do
  if each.has_more then stops[#stops + 1] = each.stop end
end
return reply_of_places(#indexes)
