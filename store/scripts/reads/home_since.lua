-- Read places of a page of a home (one listing of the articles of all groups that a user follows): those that are in some
-- listings of one partition. The order is VOTES, among the articles posted since an instant.
-- requires: home_places, since_search
-- from home_places: hides (whether the viewer hides articles),
--   most_to_bound (articles of a listing to read at most to get to the bound),
--   from (the value of the position beyond which places are wanted, nil without one),
--   bound (the value of the place down to which to look, nil without one; of a page down only), not_hidden(members) -> members,
--   add_beyond(member, value), articles_left (articles that may still be read),
--   stops ({value, member} of the places at which listings stopped that have more),
--   LAST (in place of a member: the place after all others of the same value), add_place(member, value),
--   shown_of_read(members) -> members, from_member (the member of that position), is_down (whether the page goes down),
--   wanted (how many places the page takes), each_listing(read) -> number of listings, last_wanted() -> {value, member} | nil,
--   comes_first(one, other), reply_of_places(count)
-- from since_search: budget (articles and commands that this step may still take),
--   by_votes (the index of VOTES of the same listing), by_time (the index of TIME of the same listing),
--   since (when the oldest articles that count were posted (unix milliseconds)),
--   FIRST_SINCE (the lowest member that may be posted since the instant),
--   FIRST_BY_TIME (the lowest member that contains the time), classes (the index of GRAVITY of the listing that is read),
--   read(page), is_full(page), END (in place of a member: the position beyond all articles of a class)
-- KEYS  1 article:{p}:   2 hidden:{p}:NAME, the articles that the viewer hides
--       3-4 ranking:{p} and siteranked:{p}:, not used here
--       5 from here on: of each listing the indexes of GRAVITY, VOTES and TIME
-- ARGV  1 the instant (unix milliseconds)   2-4 ""   5 about how many articles and commands the search in a listing may
--       take before it stops
--       6-14 for home_places.lua: the direction, how many places, the position beyond which they are,
--       whom the viewer blocks, a bound, and limits of the work
-- Reply {value and member of the place at which the script stopped, or "" and "" if there are no more; how many listings
--       it has read; member, value, ...}: the places that are shown, in the direction of the page
--
-- A bound is a place below which nothing is wanted. With one, a listing is read down to it, by votes or by time, if few
-- articles have as many votes or are as new. Else a few places of each listing are read, and then more of the listings that
-- may still have a place before the last of the page.
local FEW = 40 -- articles down to the bound that are read by votes, though those since the instant may be fewer
local MOST_READ_AT_ONCE = 30 -- articles since the instant that are all read without a bound, and one more for each hidden

local most_at_once = math.min(MOST_READ_AT_ONCE + (hides and redis.call("ZCARD", KEYS[2]) or 0), most_to_bound)
local listings, budget_of_each = {}, budget

-- The first articles with votes down to the bound, at most `most`.
local function down_to_bound(most)
  return redis.call("ZRANGE", by_votes, from or "+inf", bound, "BYSCORE", "REV", "LIMIT", 0, most)
end

-- Reads the articles since the instant, and adds those down to the bound. Returns how many it has read.
local function read_by_time()
  local members = redis.call("ZRANGE", by_time, since, "+inf", "BYSCORE")
  local shown = not_hidden(members)
  for i, votes in ipairs(shown[1] and redis.call("ZMSCORE", by_votes, unpack(shown)) or {}) do
    local value = tonumber(votes or "")
    if value and value >= bound then add_beyond(shown[i], value) end
  end
  return #members
end

-- Adds those of some articles that were posted since the instant. Most were not, and most numbers tell that. Returns about
-- how many it has read: an article of which only the number is looked at counts for a quarter.
local function add_since(members)
  local newer = {}
  for _, member in ipairs(members) do
    if member >= FIRST_SINCE or member < FIRST_BY_TIME then newer[#newer + 1] = member end
  end
  local shown = not_hidden(newer)
  for i, time in ipairs(shown[1] and redis.call("ZMSCORE", by_time, unpack(shown)) or {}) do
    if time and tonumber(time) >= since then add_beyond(shown[i], tonumber(redis.call("ZSCORE", by_votes, shown[i]))) end
  end
  return #newer + #members / 4
end

-- Reads all articles of a listing down to the bound: those with at least its votes, or those since the instant,
-- whichever are fewer. Returns false if both may be many.
local function read_to_bound()
  local is_by_time, members = false, down_to_bound(FEW + 1)
  if #members > FEW then
    local count, total = redis.call("ZCOUNT", by_votes, bound, from or "+inf"), redis.call("ZCOUNT", by_time, since, "+inf")
    if math.min(count, total) > most_to_bound then return false end
    is_by_time = total < count
    if not is_by_time then members = down_to_bound(count) end
  end
  articles_left = articles_left - (is_by_time and read_by_time() or add_since(members))
  stops[#stops + 1] = {bound, LAST}
  return true
end

-- Reads a listing on until `count` of its places are found, and adds them.
local function read_more(listing, count)
  classes, by_votes, by_time = unpack(listing.keys)
  budget = budget_of_each
  local page = listing.page
  local known = #page.found
  page.wanted = count
  listing.is_open = read(page) or is_full(page)
  for i = known + 1, #page.found, 2 do add_place(page.found[i], string.format("%.17g", page.found[i + 1])) end
  if page.value then listing.stop = {page.value, page.member == END and LAST or page.member} end
end

-- Reads all articles of a listing since the instant. Returns false if they are many.
local function read_all()
  local members = redis.call("ZRANGE", by_time, since, "+inf", "BYSCORE", "LIMIT", 0, most_at_once + 1)
  if #members > most_at_once then return false end
  local shown = shown_of_read(members)
  for i, votes in ipairs(shown[1] and redis.call("ZMSCORE", by_votes, unpack(shown)) or {}) do
    if votes then add_beyond(shown[i], tonumber(votes)) end
  end
  return true
end

local function open_listing(i)
  local keys = {KEYS[i], KEYS[i + 1], KEYS[i + 2]}
  classes, by_votes, by_time = unpack(keys)
  if bound and read_to_bound() or not bound and read_all() then return end
  local member = from and from_member == LAST and END or from_member -- with LAST the class would be read again
  local page = {down = is_down, wanted = wanted, skip = 0, found = {}, value = from, member = member}
  listings[#listings + 1] = {keys = keys, page = page}
end

local listing_count = each_listing(open_listing)
-- The listings to read on, and how many places of each: twice its share at first, as some have more of the page than others.
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
return reply_of_places(listing_count)
