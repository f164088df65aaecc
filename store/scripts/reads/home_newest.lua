-- Find a bound for a page of a home (one listing of the articles of all groups that a user follows) by GRAVITY, or by
-- VOTES since an instant: the first places among the newest articles of some listings of one partition. Nothing on the
-- page comes after the last of them.
-- requires: gravity_index, home_places
-- from gravity_index: value_of(base, time)
-- from home_places: read_range(key, start, stop, ...) -> (number of places, members, values), add_beyond(member, value),
--   hides (whether the viewer hides articles), blocks (whether the viewer blocks users), sort_fresh(),
--   is_shown (whether a place is shown, by member: true, false, or FRESH), reply_of_places(count),
--   each_listing(read) -> number of listings
-- KEYS  1 article:{p}:   2 hidden:{p}:NAME, the articles that the viewer hides
--       3-4 ranking:{p} and siteranked:{p}:, not used here
--       5 from here on: of each listing the indexes of GRAVITY, VOTES and TIME
-- ARGV  by GRAVITY 1-5 for gravity_index.lua: the instant (unix milliseconds), and parameters of the formula
--       by VOTES 1 the instant (unix milliseconds) since which articles were posted, 2-5 ""
--       6-14 for home_places.lua: the direction, how many places, the position beyond which they are,
--       whom the viewer blocks, a bound, and limits of the work
-- Reply {value and member of the place at which the script stopped, or "" and "" if there are no more; how many listings
--       it has read; member, value, ...}: the places that are shown, in the direction of the page
local NEWEST = 4 -- articles of a listing to find that are shown and lie beyond the position
local DEEPEST = 1000 -- articles of a listing, about, that are looked through for these, the newest first
local is_by_votes = ARGV[2] == "" -- else by GRAVITY
local oldest = is_by_votes and ARGV[1] or "-inf" -- time of the oldest that may be on the page

-- Reads some articles of a listing by time. Returns their members, and whether there may be more.
local function read_by_time(i, first, count)
  local found, members, times = read_range(KEYS[i + 2], "+inf", oldest, "BYSCORE", "REV", "LIMIT", first, count)
  for j, votes in ipairs(members[1] and redis.call("ZMSCORE", KEYS[i + 1], unpack(members)) or {}) do
    local value = votes and (is_by_votes and tonumber(votes) or value_of(votes - 1, tonumber(times[j])))
    if value then add_beyond(members[j], value) end
  end
  return members, found == count
end

local function read_newest(i)
  local first, count, missing = 0, NEWEST, NEWEST
  repeat
    local members, has_more = read_by_time(i, first, count)
    if hides or blocks then sort_fresh() end
    for _, member in ipairs(members) do
      if is_shown[member] then missing = missing - 1 end
    end
    first, count = first + count, 2 * count
  until missing <= 0 or not has_more or first > DEEPEST
end

return reply_of_places(each_listing(read_newest))
