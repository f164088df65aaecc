-- Read the part of a page of a listing that one partition holds: by value, then by member, highest first.
-- requires: index_rank
-- from index_rank: rank_of(key, value, member, including) -> number
-- KEYS  1 the index
-- ARGV  1 lowest and 2 highest value of the listing, as ZCOUNT takes them
--       3 "down": the entries that follow a position; "up": those that precede it
--       4 number of entries   5 entries to skip at the top, if there is no position
--       6 value and 7 member of the position, or ""
-- Reply "above total member value ...": entries of the listing above these, entries of the whole listing, then these.
--       One string with spaces between is decoded and cached faster than a list.
local key, lowest, highest, direction = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local count, skip = tonumber(ARGV[4]), tonumber(ARGV[5])

-- The listing has the ranks from `top` to `bottom` - 1, counted from the highest value of the index.
local top = highest == "+inf" and 0 or redis.call("ZCARD", key) - redis.call("ZCOUNT", key, "-inf", highest)
local total = redis.call("ZCOUNT", key, lowest, highest)
local bottom = top + total

local function above(value, member, including)
  return math.max(top, math.min(rank_of(key, value, member, including), bottom))
end

local value, member = ARGV[6], ARGV[7]
local from, to
if direction == "down" then
  from = value ~= "" and above(value, member, true) or math.min(top + skip, bottom)
  to = math.min(from + count, bottom)
else
  to = value ~= "" and above(value, member, false) or bottom
  from = math.max(top, to - count)
end

local reply = from < to and redis.call("ZRANGE", key, from, to - 1, "REV", "WITHSCORES") or {}
table.insert(reply, 1, total)
table.insert(reply, 1, from - top)
return table.concat(reply, " ")
