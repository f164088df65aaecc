-- Read places of a page of a home (one listing of the articles of all groups that a user follows): those that are in some
-- indexes of one partition. The order is one whose values do not change with age.
-- requires: home_places, index_rank
-- from home_places: most_read (about how many articles to look at in all), is_down (whether the page goes down),
--   from (the value of the position beyond which places are wanted, nil without one),
--   from_member (the member of that position),
--   bound (the value of the place down to which to look, nil without one; of a page down only),
--   bound_member (the member of the bound), unzipped(flat) -> (members, values), not_hidden(members) -> members,
--   add_place(member, value), articles_left (articles that may still be read), hides (whether the viewer hides articles),
--   COST (of a listing, in articles that are read in the same time),
--   stops ({value, member} of the places at which listings stopped that have more), last_wanted() -> {value, member} | nil,
--   comes_first(one, other), reply_of_places(count)
-- from index_rank: rank_of(key, value, member, including) -> number of members above, or with `including` at or above it
-- KEYS  1 article:{p}:   2 hidden:{p}:NAME, the articles that the viewer hides   3 ranking:{p}, the weights of groups
--       4 siteranked:{p}:, the indexes of groups by the weights of the site
--       5 from here on: the indexes, one for each listing
-- ARGV  1 lowest value of the listing, or ""
--       2 a weight that the values depend on, if these are indexes of groups, or ""
--       3-5 "", as only other scripts that require home_places.lua have arguments here
--       6-14 for home_places.lua: 6 the direction of the page   7 how many places are wanted
--       8 value and 9 member of the position beyond which they are, or ""   10 whom the viewer blocks
--       11 value and 12 member of a bound, or ""   13 not used here   14 about how many articles to look at in all
-- Reply {value and member of the place at which the script stopped, or "" and "" if there are no more; how many listings
--       it has read; member, value, ...}: the places that are shown, in the direction of the page
--
-- With a bound, a place below which nothing is wanted, one index after another is read down to it. Without one, the first
-- place of each is read, and then more of the indexes that may still have a place before the last of the page. While much is
-- hidden, that last place is not known yet: then more is read of the indexes that have come the least far.
local MOST_AT_ONCE = most_read -- places of an index to read at once
local DIRECTION = is_down and {"REV"} or {} -- argument of ZRANGE by rank
local MANY = 8 -- places of an index to read at once: of so many, or more, values are read only of those that are not hidden
local lowest = tonumber(ARGV[1]) -- the lowest value of the listing, nil without one

-- The keys of the indexes to read. A group that has its own value of the weight ARGV[2] is read by its index with the weights
-- of the site: else its values could not be compared with those of other groups.
local function site_ranked()
  local found, groups = {unpack(KEYS, 5)}, {}
  if ARGV[2] == "" or redis.call("EXISTS", KEYS[3]) == 0 then return found end
  for i, key in ipairs(found) do groups[i] = string.match(key, ":([^:]+):[^:]+$") end -- of group:{p}:GROUP:ORDER
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
    -- counted from the highest place down: those above the position and, on a page down, the position itself
    first = rank_of(key, ARGV[8], from_member, is_down)
    if not is_down then first = redis.call("ZCARD", key) - first end
  end
  if lowest and not is_down then first = math.max(first, redis.call("ZCOUNT", key, "-inf", "(" .. ARGV[1])) end
  return first
end

local function is_wanted(value, member)
  -- with a bound, none of the places that are read is below its value
  if bound then return value > bound or member >= bound_member end
  return not lowest or value >= lowest
end

-- Adds the places in a range of an index, given as ZRANGE takes it. Returns how many there are, and the last of them,
-- {value, member}. If most may be hidden, only values of the others are read. Most ranges are empty, so that is seen first.
local function add_range(key, may_be_hidden, start, stop, ...)
  local members, values
  if may_be_hidden then
    members = redis.call("ZRANGE", key, start, stop, ...)
    if not members[1] then return 0 end
  else
    local flat = redis.call("ZRANGE", key, start, stop, "WITHSCORES", ...)
    if not flat[1] then return 0 end
    members, values = unzipped(flat)
  end
  local count, last = #members, members[#members]
  if may_be_hidden then
    members = not_hidden(members)
    -- for its value: if it is hidden, it is left out all the same, else `add_place` ignores it the second time
    members[#members + 1] = last
    values = redis.call("ZMSCORE", key, unpack(members))
  end
  for i, member in ipairs(members) do
    if is_wanted(tonumber(values[i]), member) then add_place(member, values[i]) end
  end
  articles_left = articles_left - count
  return count, {tonumber(values[#values]), last}
end

-- Reads an index down to the bound, or stops before once enough is read.
local function read_to_bound(key)
  local first, count, last = first_rank(key), nil, nil
  repeat
    count, last = add_range(key, hides, "+inf", ARGV[11], "BYSCORE", "REV", "LIMIT", first, MOST_AT_ONCE)
    first = first + count
  until count < MOST_AT_ONCE or articles_left <= 0
  articles_left = articles_left - COST
  if count == MOST_AT_ONCE then stops[#stops + 1] = last end
end

-- Reads the next `count` places of an index. If it has fewer, it has no more.
local function read_more(each)
  local may_be_hidden, stop = hides and each.count >= MANY, each.next + each.count - 1
  local count, last = add_range(each.key, may_be_hidden, each.next, stop, unpack(DIRECTION))
  each.has_more, each.stop = count == each.count and not (lowest and last[1] < lowest), last
  each.next, each.count = each.next + count, math.min(4 * each.count, MOST_AT_ONCE)
end

-- Those of some indexes that have come the least far: half of them, and those that have come to the same value.
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

-- Reads some indexes until the last of the wanted places is known, or enough is read.
local function read_first(indexes)
  local open = indexes
  while open[1] do
    local share = math.max(math.floor(articles_left / #open), 1)
    for _, each in ipairs(open) do
      each.count = math.min(each.count, share)
      read_more(each)
    end
    local last, may_matter = last_wanted(), {}
    for _, each in ipairs(indexes) do
      if each.has_more and (not last or comes_first(each.stop, last)) then may_matter[#may_matter + 1] = each end
    end
    if articles_left <= 0 then break end
    open = last and may_matter or furthest_behind(may_matter)
  end
  for _, each in ipairs(indexes) do
    if each.has_more then stops[#stops + 1] = each.stop end
  end
end

local keys, indexes = site_ranked(), {}
if bound then stops[1] = {bound, bound_member} end
for i, key in ipairs(keys) do
  if bound and articles_left <= 0 then return reply_of_places(i - 1) end
  if bound then read_to_bound(key) else indexes[i] = {key = key, next = first_rank(key), count = 1} end
end
read_first(indexes)
return reply_of_places(#keys)
