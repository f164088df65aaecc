-- Read the places of a page of a home by VOTES that are in some listings of one partition, among the articles posted
-- since an instant.
-- requires: home_places, since_search
-- KEYS  see home_places.lua; of each listing the indexes of GRAVITY, VOTES and TIME
-- ARGV  1 the instant (unix milliseconds)   2-4 ""   5 about how many articles and commands the search in a listing may
--       take before it stops   6-12 see home_places.lua
-- Reply see home_places.lua
--
-- The newest articles of each listing give a first bound: a place that is not before the last of those to look at. A
-- listing is then read by time or by votes, where it has fewer articles since the instant, or not below the bound. If
-- there are many of both, they are searched for.
local SEEDS = 6 -- newest articles of a listing that are read first
local MOST_READ_AT_ONCE = 60 -- articles of a listing that are read, not searched for

local steps = budget

-- Adds those of some articles that were posted since the instant.
local function add_articles(listing, last, members, votes)
  local found = {}
  for i, member in ipairs(members) do
    if votes[i] then found[#found + 1] = {tonumber(votes[i]), member} end
  end
  add_near(listing, last, found)
end

local function read_by_time(listing, last)
  local members = redis.call("ZRANGE", by_time, since, "+inf", "BYSCORE")
  listing.has_left_out = false
  if members[1] then add_articles(listing, last, members, redis.call("ZMSCORE", by_votes, unpack(members))) end
  stop_at(listing, listing.has_left_out and last or nil)
end

local function read_by_votes_down(listing, last)
  local flat, members, votes = redis.call("ZRANGE", by_votes, "+inf", last[1], "BYSCORE", "REV", "WITHSCORES"), {}, {}
  for i = 1, #flat, 2 do members[#members + 1] = flat[i] end
  for i, time in ipairs(members[1] and redis.call("ZMSCORE", by_time, unpack(members)) or {}) do
    votes[i] = tonumber(time or -1) >= since and flat[2 * i]
  end
  add_articles(listing, last, members, votes)
  stop_at(listing, last)
end

local function search_listing(listing)
  local stop = listing.stop or {from, from_member}
  local page = {down = is_down, wanted = listing.count, skip = 0, found = {}, value = stop[1], member = stop[2]}
  listing.count, budget = 2 * listing.count, steps
  listing.is_open = read(page) or is_full(page)
  local found = {}
  for i = 1, #page.found, 2 do found[#found + 1] = {page.found[i + 1], page.found[i]} end
  add_near(listing, nil, found)
  if page.value then listing.stop = {page.value, page.member == END and LAST or page.member} end
end

local function read_more(listing, last)
  classes, by_votes, by_time = unpack(listing.keys)
  local count = is_down and last and redis.call("ZCOUNT", by_votes, last[1], "+inf") or math.huge
  if math.min(count, listing.total) > MOST_READ_AT_ONCE then return search_listing(listing) end
  if count < listing.total then return read_by_votes_down(listing, last) end
  read_by_time(listing, last)
end

local listings = {}
for i = 5, #KEYS, 3 do
  classes, by_votes, by_time = KEYS[i], KEYS[i + 1], KEYS[i + 2]
  local total = redis.call("ZCOUNT", by_time, since, "+inf")
  if total > 0 then
    local listing = {keys = {classes, by_votes, by_time}, total = total, is_open = true}
    listings[#listings + 1] = listing
    if is_down then
      local newest = redis.call("ZRANGE", by_time, 0, math.min(SEEDS, total) - 1, "REV")
      add_articles(listing, nil, newest, redis.call("ZMSCORE", by_votes, unpack(newest)))
      listing.is_open = total > SEEDS
    end
  end
end
return reply_of_places(listings, read_more)
