-- Read the places of a page of a home by VOTES that are in some listings of one partition, among the articles posted
-- since an instant.
-- requires: home_places, since_search
-- KEYS  see home_places.lua; of each listing the indexes of GRAVITY, VOTES and TIME
-- ARGV  1 the instant (unix milliseconds)   2-4 ""   5 about how many articles and commands the search in a listing may
--       take before it stops   6-12 see home_places.lua
-- Reply see home_places.lua
--
-- With a bound, a listing is read by votes down to it, if few articles of any time have as many. Else
-- a few places of each listing are read, and then more of those that may still have one that comes before the last.
local MOST_READ_AT_ONCE = 30 -- articles of a listing since the instant that are all read

local listings, steps = {}, budget

-- Reads all articles of a listing down to the bound. Returns false if that may be many.
local function read_to_bound()
  if not bound then return false end
  local flat = redis.call("ZRANGE", by_votes, from or "+inf", bound, "BYSCORE", "REV", "LIMIT", 0, most_to_bound + 1,
    "WITHSCORES")
  if #flat > 2 * most_to_bound then return false end
  local members = {}
  for i = 1, #flat, 2 do members[#members + 1] = flat[i] end
  for i, time in ipairs(members[1] and redis.call("ZMSCORE", by_time, unpack(members)) or {}) do
    if time and tonumber(time) >= since then add_beyond(members[i], tonumber(flat[2 * i])) end
  end
  stops[#stops + 1] = {bound, LAST}
  return true
end

local function read_more(listing, count)
  classes, by_votes, by_time = unpack(listing.keys)
  budget = steps
  local page = listing.page
  local known = #page.found
  page.wanted = count
  listing.is_open = read(page) or is_full(page)
  for i = known + 1, #page.found, 2 do add_place(page.found[i], string.format("%.17g", page.found[i + 1])) end
  if page.value then listing.stop = {page.value, page.member == END and LAST or page.member} end
end

local function open_listing(keys)
  classes, by_votes, by_time = unpack(keys)
  if read_to_bound() then return end
  local total = redis.call("ZCOUNT", by_time, since, "+inf")
  if total == 0 then return end
  local member = from and from_member == LAST and END or from_member -- else a class that was read would be read again
  local page = {down = is_down, wanted = wanted, skip = 0, found = {}, value = from, member = member}
  local listing = {keys = keys, page = page}
  if total <= MOST_READ_AT_ONCE then
    page.wanted = total
    read_sorted(page, redis.call("ZRANGE", by_time, since, "+inf", "BYSCORE"))
    for i = 1, #page.found, 2 do add_place(page.found[i], string.format("%.17g", page.found[i + 1])) end
  else
    listings[#listings + 1] = listing
  end
end

for i = 5, #KEYS, 3 do open_listing({KEYS[i], KEYS[i + 1], KEYS[i + 2]}) end
local open, count = listings, math.min(wanted, math.max(2, math.ceil(2 * wanted / math.max(#listings, 1))))
while open[1] do
  local next_open = {}
  for _, listing in ipairs(open) do read_more(listing, count) end
  local last = last_wanted()
  for _, listing in ipairs(open) do
    local is_full_page = #listing.page.found >= 2 * count
    local may_matter = listing.is_open and (not last or comes_first(listing.stop, last))
    if may_matter and is_full_page then next_open[#next_open + 1] = listing end
  end
  open, count = next_open, 2 * count
end
for _, listing in ipairs(listings) do
  if listing.is_open then stops[#stops + 1] = listing.stop end
end
return reply_of_places()
