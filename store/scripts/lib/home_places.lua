-- Functions for the reads of homes: places of several listings, each article once, without those that the viewer hides.
-- KEYS  1 article:{p}:   2 hidden:{p}:NAME   3 ranking:{p}   4 siteranked:{p}:   5 from here on: the indexes
-- ARGV  1-5 see the script   6 "down" or "up": direction of the page   7 how many places to find
--       8 value and 9 member of the position beyond which they are, or ""
--       10 usernames whom the viewer blocks, each in lower case with the slot and ":" before it, separated by spaces
--       11 how many places to look at first   12 after how many to stop, also if too few of them are shown
-- Reply {value and member of the place at which the script stopped, or "" and "" if there are no more,
--       member, value, ... of the places that are shown, in the direction of the page}
--
-- A script reads a few places of each listing, and then more of those that may still have one that comes before the last
-- of the places to find. A listing has here `is_open`, whether it has more beyond `stop`, {value, member}, which is nil
-- before the first read, and `count`, how many places to read next.
local SLOTS = 1024
local is_down, needed, first_looked_at, most = ARGV[6] == "down", tonumber(ARGV[7]), tonumber(ARGV[11]), tonumber(ARGV[12])
local from, from_member = tonumber(ARGV[8]), ARGV[9]
local LAST = is_down and "" or "~" -- in place of a member: the place after all others of the same value

local places, is_known = {}, {} -- {value, member, value as text} of what is shown; what was looked at, by member
local looked_at = 0 -- how many places were read
local bound, bound_count = nil, 0 -- what `last_needed` has returned, and of how many places

local blocked = {} -- usernames by slot
for slot, name in string.gmatch(ARGV[10], "(%d+):(%S+)") do
  slot = tonumber(slot)
  blocked[slot] = blocked[slot] or {}
  blocked[slot][name] = true
end
local hides_some = redis.call("EXISTS", KEYS[2]) == 1

-- Whether the poster of an article is blocked. The number has the poster's slot, so few posters are read.
local function is_by_blocked(member)
  local number = tonumber(member)
  local names = blocked[number % SLOTS]
  if not names then return false end
  local poster = redis.call("HGET", KEYS[1] .. string.format("%.0f", number), "poster")
  return poster and names[string.lower(poster)] or false
end

local function comes_first(one, other)
  if not is_down then one, other = other, one end
  return one[1] > other[1] or one[1] == other[1] and one[2] > other[2]
end

-- Adds those of some places that are shown: not hidden by the viewer, nor by somebody whom the viewer blocks.
local function add_shown(found)
  if not found[1] then return end
  local members = {}
  for i, place in ipairs(found) do
    members[i], is_known[place[2]] = place[2], true
  end
  local hidden = hides_some and redis.call("ZMSCORE", KEYS[2], unpack(members)) or {}
  for i, place in ipairs(found) do
    if not hidden[i] and not is_by_blocked(place[2]) then places[#places + 1] = place end
  end
end

-- The last of the first `needed` places; nil if there are not as many. No function compares, as this is done often.
local function last_needed()
  if #places < needed then return nil end
  local values, ties = {}, {}
  for i, place in ipairs(places) do values[i] = is_down and -place[1] or place[1] end
  table.sort(values)
  local value, before = is_down and -values[needed] or values[needed], 0
  for _, place in ipairs(places) do
    if place[1] == value then
      ties[#ties + 1] = place[2]
    elseif is_down == (place[1] > value) then
      before = before + 1
    end
  end
  table.sort(ties)
  local nth = needed - before
  return {value, ties[is_down and #ties + 1 - nth or nth]}
end

-- The same of the places that were found a moment ago, which does not come before that of all.
local function last_known()
  if #places >= needed and #places >= 1.5 * bound_count then bound, bound_count = last_needed(), #places end
  return bound
end

-- Adds places of a listing but for those that come after `last`: what has such ones notes `has_left_out`, and is read
-- again if they are needed.
local function add_near(listing, last, found)
  local stop, near = listing.stop or from and {from, from_member}, {}
  looked_at = looked_at + #found
  for _, place in ipairs(found) do
    if not stop or comes_first(stop, place) then
      if last and comes_first(last, place) then
        listing.has_left_out = true
      elseif not is_known[place[2]] then
        place[3] = place[3] or string.format("%.17g", place[1])
        near[#near + 1] = place
      end
    end
  end
  add_shown(near)
end

-- Notes that all places of a listing up to `stop` were read, or all if that is nil.
local function stop_at(listing, stop)
  listing.is_open = stop ~= nil
  listing.stop = stop or listing.stop
end

-- Reads listings on, all in turns, until none has a place that comes before the last one that is needed, or `most` were
-- looked at.
local function read_near(listings, read_more)
  local is_done = false
  while not is_done do
    is_done = true
    bound, bound_count = last_needed(), #places
    for _, listing in ipairs(listings) do
      local last = last_known()
      if listing.is_open and (not last or not listing.stop or comes_first(listing.stop, last)) then
        read_more(listing, last)
        is_done = false
      end
    end
    is_done = is_done or looked_at >= most
  end
end

-- Where all listings have been read to: the nearest place at which one has stopped, or the last place that is needed.
local function nearest_stop(listings)
  local stop = #places > needed and last_needed() or nil
  for _, listing in ipairs(listings) do
    if listing.is_open and (not stop or comes_first(listing.stop, stop)) then stop = listing.stop end
  end
  local last = last_needed()
  if stop and last and comes_first(last, stop) then return last end
  return stop
end

-- Finds places in listings, and returns the reply.
local function reply_of_places(listings, read_more)
  local count = math.max(2, math.ceil(2 * first_looked_at / math.max(#listings, 1)))
  for _, listing in ipairs(listings) do listing.count = math.min(count, most) end
  read_near(listings, read_more)
  local stop, near = nearest_stop(listings), {}
  for _, place in ipairs(places) do
    if not stop or not comes_first(stop, place) then near[#near + 1] = place end
  end
  table.sort(near, comes_first)
  local reply = {stop and string.format("%.17g", stop[1]) or "", stop and stop[2] or ""}
  for _, place in ipairs(near) do
    reply[#reply + 1] = place[2]
    reply[#reply + 1] = place[3]
  end
  return reply
end
