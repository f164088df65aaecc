-- Read the places of a page of a home by GRAVITY that are in some listings of one partition.
-- requires: gravity_search, home_places
-- from gravity_classes: CLASS (milliseconds between two classes)
-- from gravity_index: value_of(base, time), time_bounds(weight, size), weight(sign, base),
--   by_votes (the index of VOTES of the same listing), budget (articles and classes that this step may still read),
--   index (the index of GRAVITY of the listing that is read; a script with several listings sets it anew)
-- from gravity_search: next_positions(beyond, count, resumed, known, limit)
-- from home_places: from (the value of the position beyond which they are, nil without one), from_member (its member),
--   bound (the value of the place down to which to look, nil without one; of a page down only), add_beyond(member, value),
--   left (articles that may still be read), unzipped(flat), most_to_bound (articles of a listing to read at most to get there),
--   stops ({value, member} of the places at which listings stopped that have more),
--   LAST (in place of a member: the place after all others of the same value), last_wanted(),
--   wanted (how many places the page takes), add_place(member, value), comes_first(one, other),
--   most_read (about how many articles to look at in all), reply_of_places(count), each_listing(read)
-- KEYS  see home_places.lua; of each listing the indexes of GRAVITY, VOTES and TIME
-- ARGV  1-5 instant, parameters of the formula and size of a step: see gravity_index.lua   6-14 see home_places.lua
-- Reply see home_places.lua
--
-- Each listing is read up to the last of the places that are wanted so far, so that most of them take few commands. With a
-- bound, an article comes before it only if it is one of those with the most votes, or newer than one with the votes of
-- the next would be at the bound: both are few, and are read.
local TOPS = {0, 16, 128} -- how many articles with the most votes are read; more if too many others are as new
local FEW = 40 -- articles that are as new, if none with the most votes are read
local position = from and {value = from, member = from_member} or nil
local by_time

-- Adds those of some articles whose values are not below the bound, given their votes and times: nil for an article that the
-- other index lacks.
local function add_to_bound(members, votes, times)
  for i, member in ipairs(members) do
    local base = votes[i] and times[i] and votes[i] - 1 or 0
    if base > 0 then -- else its value is not above 0, and the bound is
      local value = value_of(base, tonumber(times[i]))
      if value >= bound then add_beyond(member, value) end
    end
  end
  left = left - #members
end

-- Reads the articles that are newer than one of these votes is at the bound. Returns false if they are more than `most`.
local function read_newer(votes, most)
  local first = votes > 1 and time_bounds(weight(1, votes - 1), bound) or CLASS
  if first == CLASS then return true end
  local members, times = unzipped(
    redis.call("ZRANGE", by_time, "+inf", first, "BYSCORE", "REV", "LIMIT", 0, most + 1, "WITHSCORES")
  )
  if #members > most then return false end
  if members[1] then add_to_bound(members, redis.call("ZMSCORE", by_votes, unpack(members)), times) end
  return true
end

-- Reads all articles of a listing down to the bound. Returns false if that may be many.
local function read_to_bound()
  if not bound or bound <= 0 then return false end
  for _, top in ipairs(TOPS) do
    local members, votes = unzipped(redis.call("ZRANGE", by_votes, 0, top, "REV", "WITHSCORES"))
    local next_votes = tonumber(votes[top + 1] or 1)
    if read_newer(next_votes, top == 0 and math.min(FEW, most_to_bound) or most_to_bound) then
      members[top + 1] = nil
      while members[1] and tonumber(votes[#members]) <= 1 do members[#members] = nil end -- such values are not above 0
      if members[1] then add_to_bound(members, votes, redis.call("ZMSCORE", by_time, unpack(members))) end
      stops[#stops + 1] = {bound, LAST}
      return true
    end
  end
  return false
end

local function search_listing()
  local last = last_wanted()
  local most, limit = bound and math.max(wanted, most_to_bound) or wanted, last and math.max(last[1], bound or last[1]) or bound
  budget = math.huge -- the search in a listing takes one step
  local from_start, known = nil, {} -- no earlier step has begun this search
  local found, furthest = next_positions(position, most, from_start, known, limit), nil
  for _, place in ipairs(found) do
    add_place(place.member, string.format("%.17g", place.value))
    local each = {place.value, place.member}
    if not furthest or comes_first(furthest, each) then furthest = each end
  end
  left = left - most_read / 10 -- what a search costs, whatever it finds
  if #found >= most then
    stops[#stops + 1] = furthest
  elseif limit then
    stops[#stops + 1] = {limit, LAST}
  end
end

return reply_of_places(each_listing(function(i)
  index, by_votes, by_time = KEYS[i], KEYS[i + 1], KEYS[i + 2]
  if not read_to_bound() and redis.call("EXISTS", by_votes) == 1 then search_listing() end
end))
