-- Read the part of a page of a listing that one partition holds, where the listing is the union or the intersection of some
-- indexes: by value, then by member, highest first. It reads all members of the listing, as these are few.
-- requires: page_ranks
-- from page_ranks: page_ranks(direction, count, skip, total, count_before) -> (from, to),
--   page_reply(above, total, entries) -> "above total member value ..."
-- KEYS  the indexes
-- ARGV  1 "down": the entries that follow a position; "up": those that precede it   2 number of entries
--       3 entries to skip at the top, if there is no position   4 value and 5 member of the position, or ""
--       6 ZUNION: what is in any of the indexes, or ZINTER: in all of them
-- Reply "above total member value ...": entries of the listing above these, entries of the whole listing, then these
local value, member = tonumber(ARGV[4]), ARGV[5]

local arguments = {#KEYS, unpack(KEYS)}
for _, word in ipairs({"AGGREGATE", "MIN", "WITHSCORES"}) do arguments[#arguments + 1] = word end
local flat = redis.call(ARGV[6], unpack(arguments)) -- lowest first
local total = #flat / 2

-- The value and the member of a rank, counted from 0 at the highest value.
local function at(rank)
  local place = #flat - 1 - 2 * rank
  return flat[place + 1], flat[place]
end

-- How many entries precede the position, with `including` the one at the position, too.
local function count_before(including)
  local low, high = 0, total
  while low < high do
    local middle = math.floor((low + high) / 2)
    local other_value, other = at(middle)
    other_value = tonumber(other_value)
    local is_before = other_value > value or other_value == value and (other > member or including and other == member)
    if is_before then low = middle + 1 else high = middle end
  end
  return low
end

local from, to = page_ranks(ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), total, value and count_before or nil)
local entries = {}
for rank = from, to - 1 do
  local found_value, found = at(rank)
  entries[#entries + 1] = found
  entries[#entries + 1] = found_value
end
return page_reply(from, total, entries)
