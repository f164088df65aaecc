-- Functions for the reads of homes. A user's home is one listing of the articles of all groups that they follow, which
-- a read merges from the groups' indexes: each article once, without those that the viewer hides.
-- requires: slots
-- from slots: SLOTS (how many slots there are, as in store/keys.py)
-- KEYS  of partition p: 1 article:{p}:   2 hidden:{p}:NAME, what the viewer hides
--       3 ranking:{p} and 4 siteranked:{p}:, which only home_page.lua uses
--       5 from here on: the indexes, one for each listing, or in scripts that call `each_listing` three, those of
--       GRAVITY, VOTES and TIME
-- ARGV  1-5 see the script   6 "down" or "up": direction of the page
--       7 how many places are wanted: positions of articles, each a value and a member
--       8 value and 9 member of the position beyond which they are, or ""
--       10 usernames whom the viewer blocks, each in lower case with the slot and ":" before it, separated by spaces
--       11 value and 12 member of a bound, or "": the last place of the page is known to be there or above it, so all
--       places down to it are read, in place of so many as are wanted
--       13 how many articles of a listing to read at most to get there   14 about how many articles to look at in all
-- Reply {value, member, count, member, value, ...}: first the place at which the script stopped, "" and "" if there are no
--       more; then how many of the listings it has read (the others are for another call); then the places that are
--       shown, in the direction of the page
local MOST_UNPACKED = 5000 -- members in one call, as `unpack` takes a limited number of values
local most_read = tonumber(ARGV[14]) -- about how many articles to look at in all
local COST = 6 -- of a listing, in articles that are read in the same time
local HIDDEN_AT_ONCE = 4 -- hidden articles that are passed over in the time in which another is read
local is_down = ARGV[6] == "down" -- whether the page goes down
local wanted = tonumber(ARGV[7]) -- how many places the page takes
local from = tonumber(ARGV[8]) -- the value of the position beyond which places are wanted, nil without one
local from_member = ARGV[9] -- the member of that position
local bound = tonumber(ARGV[11]) -- the value of the place down to which to look, nil without one; of a page down only
local bound_member = ARGV[12] -- the member of the bound
local most_to_bound = tonumber(ARGV[13]) -- articles of a listing to read at most to get to the bound
local LAST = is_down and "" or "~" -- in place of a member: the place after all others of the same value
local hides = redis.call("EXISTS", KEYS[2]) == 1 -- whether the viewer hides articles

local places, fresh = {}, {} -- {value, member, value as text}: those that are shown, and those of which that is not known yet
local is_shown = {} -- whether a place is shown, by member: true, false, or FRESH
local FRESH = "fresh"
local stops = {} -- {value, member} of the places at which listings stopped that have more
local articles_left = most_read -- articles that may still be read

local blocked = {} -- usernames by slot
for slot, name in string.gmatch(ARGV[10], "(%d+):(%S+)") do
  slot = tonumber(slot)
  blocked[slot] = blocked[slot] or {}
  blocked[slot][name] = true
end
local blocks = next(blocked) ~= nil -- whether the viewer blocks users

-- Whether the poster of an article is blocked. The number has the poster's slot, so few posters are read.
local function is_by_blocked(member)
  local number = tonumber(member)
  local names = blocked[number % SLOTS]
  if not names then return false end
  local poster = redis.call("HGET", KEYS[1] .. string.format("%.0f", number), "poster")
  return poster and names[string.lower(poster)] or false
end

-- Finds out which of the fresh places are shown: their articles are neither hidden nor by somebody who is blocked.
local function sort_fresh()
  local members, hidden = {}, {}
  if hides then
    for i, place in ipairs(fresh) do members[i] = place[2] end
  end
  for first = 1, #members, MOST_UNPACKED do
    local last = math.min(first + MOST_UNPACKED - 1, #members)
    for i, is_hidden in ipairs(redis.call("ZMSCORE", KEYS[2], unpack(members, first, last))) do
      hidden[first + i - 1] = is_hidden
    end
  end
  for i, place in ipairs(fresh) do
    local is_left_out = hidden[i] or blocks and is_by_blocked(place[2])
    is_shown[place[2]] = not is_left_out
    if not is_left_out then places[#places + 1] = place end
  end
  fresh = {}
end

local function comes_first(one, other)
  if not is_down then one, other = other, one end
  return one[1] > other[1] or one[1] == other[1] and one[2] > other[2]
end

local function add_place(member, value)
  if is_shown[member] ~= nil then return end
  is_shown[member] = FRESH
  fresh[#fresh + 1] = {tonumber(value), member, value}
end

-- Adds a place if it lies beyond the position.
local function add_beyond(member, value)
  if not from or comes_first({from, from_member}, {value, member}) then
    add_place(member, string.format("%.17g", value))
  end
end

-- The last of the first `wanted` places that are shown; nil if there are not as many. Numbers are sorted, as this takes less
-- time than a function that compares places, and is done often.
local function last_wanted() --> {value, member} | nil
  sort_fresh()
  if #places < wanted then return nil end
  local values, ties = {}, {}
  for i, place in ipairs(places) do values[i] = is_down and -place[1] or place[1] end
  table.sort(values)
  local value, before = is_down and -values[wanted] or values[wanted], 0 -- of the last one; how many come before this value
  for _, place in ipairs(places) do
    if place[1] == value then
      ties[#ties + 1] = place[2]
    elseif is_down == (place[1] > value) then
      before = before + 1
    end
  end
  table.sort(ties)
  local nth = wanted - before -- which one it is among the ties
  return {value, ties[is_down and #ties + 1 - nth or nth]}
end

-- {member, value, ...} as two lists.
local function unzipped(flat) --> (members, values)
  local members, values = {}, {}
  for i = 1, #flat / 2 do members[i], values[i] = flat[2 * i - 1], flat[2 * i] end
  return members, values
end

-- Those of some members that the viewer does not hide.
local function not_hidden(members) --> members
  if not hides or not members[1] then return members end
  local shown = {}
  for i, is_hidden in ipairs(redis.call("ZMSCORE", KEYS[2], unpack(members))) do
    if not is_hidden then shown[#shown + 1] = members[i] end
  end
  return shown
end

-- As `not_hidden`, for members that have just been read: takes their number from `articles_left`, where hidden ones count less.
local function shown_of_read(members) --> members
  local shown = not_hidden(members)
  articles_left = articles_left - #shown - (#members - #shown) / HIDDEN_AT_ONCE
  return shown
end

-- Reads a range of an index, given as ZRANGE takes it. Returns how many places it has, and the members and values of those
-- that the viewer does not hide. Where the viewer hides articles, only the values of the others are read: most may be hidden.
local function read_range(key, start, stop, ...) --> (number of places, members, values)
  if not hides then
    local members, values = unzipped(redis.call("ZRANGE", key, start, stop, "WITHSCORES", ...))
    articles_left = articles_left - #members
    return #members, members, values
  end
  local members = redis.call("ZRANGE", key, start, stop, ...)
  local shown = shown_of_read(members)
  return #members, shown, shown[1] and redis.call("ZMSCORE", key, unpack(shown)) or {}
end

-- Calls `read` with the place in KEYS of each listing, which has three indexes, until enough is read. Returns how many
-- listings that were.
local function each_listing(read) --> number of listings
  for i = 5, #KEYS, 3 do
    if articles_left <= 0 then return (i - 5) / 3 end
    articles_left = articles_left - COST
    read(i)
  end
  return (#KEYS - 4) / 3
end

-- The reply of the first `wanted` places; with a bound, of all that were found. Those beyond a place at which a listing
-- stopped are left out. `count` is how many listings were read.
local function reply_of_places(count)
  sort_fresh()
  local last = not bound and (stops[1] or #places > wanted) and last_wanted()
  for _, stop in ipairs(stops) do
    if not last or comes_first(stop, last) then last = stop end
  end
  local near = {}
  for _, place in ipairs(places) do
    if not last or not comes_first(last, place) then near[#near + 1] = place end
  end
  table.sort(near, comes_first)
  local reply = {last and string.format("%.17g", last[1]) or "", last and last[2] or "", tostring(count)}
  for _, place in ipairs(near) do
    reply[#reply + 1] = place[2]
    reply[#reply + 1] = place[3]
  end
  return reply
end
