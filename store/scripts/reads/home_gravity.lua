-- Read the places of a page of a home by GRAVITY that are in some listings of one partition.
-- requires: gravity_search, home_places
-- KEYS  see home_places.lua; of each listing the indexes of GRAVITY, VOTES and TIME
-- ARGV  1-5 see gravity_index.lua   6-12 see home_places.lua
-- Reply see home_places.lua
--
-- The newest articles of each listing give a first bound: a place that is not before the last of those to look at. Of a
-- listing whose best votes are known, only articles since some instant can come before the bound. They are read by time if
-- they are few, else they are searched for.
local SEEDS = 3 -- newest articles of a listing that are read first
local MOST_READ_AT_ONCE = 60 -- articles since an instant that are read, not searched for

local by_time

local function value_of(votes, time)
  local base = votes - 1
  if base == 0 then return 0 end
  local sign = base < 0 and -1 or 1
  return sign * size(sign, sign * base, time)
end

-- Adds articles of a listing, given as {member, time, ...}.
local function add_articles(listing, last, flat)
  local members = {}
  for i = 1, #flat, 2 do members[#members + 1] = flat[i] end
  if not members[1] then return end
  local found = {}
  for i, votes in ipairs(redis.call("ZMSCORE", by_votes, unpack(members))) do
    if votes then found[#found + 1] = {value_of(votes, tonumber(flat[2 * i])), members[i]} end
  end
  add_near(listing, last, found)
end

-- The first instant at which an article may be posted that comes before the bound; nil if there is none.
local function first_instant(last)
  if not last or last[1] <= 0 then return 0 end
  local votes = redis.call("ZRANGE", by_votes, 0, 0, "REV", "WITHSCORES")[2]
  if not votes or tonumber(votes) <= 1 then return nil end
  local first = time_bounds(weight(1, votes - 1), last[1])
  return first < CLASS and first or nil
end

-- Reads a listing by time, if few articles can come before the bound. Returns whether it has done so.
local function read_by_time(listing, last)
  local since = first_instant(last)
  if since and redis.call("ZCOUNT", by_time, since, "+inf") > MOST_READ_AT_ONCE then return false end
  listing.has_left_out = not since or since > 0
  if since then add_articles(listing, last, redis.call("ZRANGE", by_time, since, "+inf", "BYSCORE", "WITHSCORES")) end
  stop_at(listing, listing.has_left_out and last or nil)
  return true
end

local function search_listing(listing, last)
  local stop = listing.stop
  local position = stop and {value = stop[1], member = stop[2]} or from and {value = from, member = from_member} or nil
  budget = math.huge
  local found, furthest = {}, nil
  for i, place in ipairs(next_positions(position, listing.count, nil, {}, last and last[1])) do
    found[i] = {place.value, place.member}
    if not furthest or comes_first(furthest, found[i]) then furthest = found[i] end
  end
  add_near(listing, nil, found)
  stop_at(listing, #found >= listing.count and furthest or last and {last[1], LAST} or nil)
  listing.count = 2 * listing.count
end

local function read_more(listing, last)
  index, by_votes, by_time = unpack(listing.keys)
  if not (is_down and read_by_time(listing, last)) then search_listing(listing, last) end
end

local listings = {}
for i = 5, #KEYS, 3 do
  local listing = {keys = {KEYS[i], KEYS[i + 1], KEYS[i + 2]}, is_open = true}
  index, by_votes, by_time = unpack(listing.keys)
  local newest = redis.call("ZRANGE", by_time, 0, SEEDS - 1, "REV", "WITHSCORES")
  if newest[1] then
    listings[#listings + 1] = listing
    if is_down then add_articles(listing, nil, newest) end
    listing.is_open = not is_down or #newest == 2 * SEEDS
  end
end
return reply_of_places(listings, read_more)
