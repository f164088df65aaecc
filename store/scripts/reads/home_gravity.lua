-- Read the places of a page of a home by GRAVITY that are in some listings of one partition.
-- requires: gravity_search, home_places
-- KEYS  see home_places.lua; of each listing the indexes of GRAVITY, VOTES and TIME
-- ARGV  1-5 see gravity_index.lua   6-12 see home_places.lua
-- Reply see home_places.lua
--
-- Each listing is read up to the last of the places that are wanted so far, so that most of them take few commands. With
-- a bound, its best votes say from which instant on an article may come before that; if few do, they are read by time.
local position = from and {value = from, member = from_member} or nil
local by_time

-- Reads all articles of a listing down to the bound. Returns false if that may be many.
local function read_to_bound()
  if not bound or bound <= 0 then return false end
  stops[#stops + 1] = {bound, LAST}
  local best = tonumber(redis.call("ZRANGE", by_votes, 0, 0, "REV", "WITHSCORES")[2])
  if best <= 1 then return true end
  local first = time_bounds(weight(1, best - 1), bound)
  if first == CLASS then return true end
  local flat =
    redis.call("ZRANGE", by_time, "+inf", first, "BYSCORE", "REV", "LIMIT", 0, most_to_bound + 1, "WITHSCORES")
  if #flat > 2 * most_to_bound then
    stops[#stops] = nil
    return false
  end
  local members = {}
  for i = 1, #flat, 2 do members[#members + 1] = flat[i] end
  for i, votes in ipairs(members[1] and redis.call("ZMSCORE", by_votes, unpack(members)) or {}) do
    local value = votes and value_of(votes - 1, tonumber(flat[2 * i]))
    if value and value >= bound then add_beyond(members[i], value) end
  end
  return true
end

local function search_listing()
  local last = last_wanted()
  local most, limit = bound and math.max(wanted, most_to_bound) or wanted, last and math.max(last[1], bound or last[1]) or bound
  budget = math.huge
  local found, furthest = next_positions(position, most, nil, {}, limit), nil
  for _, place in ipairs(found) do
    add_place(place.member, string.format("%.17g", place.value))
    local each = {place.value, place.member}
    if not furthest or comes_first(furthest, each) then furthest = each end
  end
  if #found >= most then
    stops[#stops + 1] = furthest
  elseif limit then
    stops[#stops + 1] = {limit, LAST}
  end
end

for i = 5, #KEYS, 3 do
  index, by_votes, by_time = KEYS[i], KEYS[i + 1], KEYS[i + 2]
  if redis.call("EXISTS", by_votes) == 1 and not read_to_bound() then search_listing() end
end
return reply_of_places()
