-- Read the part of a page of a listing that one partition holds: by value, then by member, highest first.
-- requires: index_rank, page_ranks
-- from index_rank: rank_of(key, value, member, including) -> number of members above, or with `including` at or above it
-- from page_ranks: page_ranks(direction, count, skip, total, count_before) -> (from, to),
--   page_reply(above, total, entries) -> "above total member value ..."
-- KEYS  1 the index
-- ARGV  1 lowest and 2 highest value of the listing, as ZCOUNT takes them
--       3 "down": the entries that follow a position; "up": those that precede it
--       4 number of entries   5 entries to skip at the top, if there is no position
--       6 value and 7 member of the position, or ""
-- Reply "above total member value ...": entries of the listing above these, entries of the whole listing, then these
local key, lowest, highest = KEYS[1], ARGV[1], ARGV[2]

-- The listing has the ranks from `top` to `bottom` - 1, counted from the highest value of the index.
local top = highest == "+inf" and 0 or redis.call("ZCARD", key) - redis.call("ZCOUNT", key, "-inf", highest)
local total = redis.call("ZCOUNT", key, lowest, highest)
local bottom = top + total

-- How many entries of the listing precede the position.
local function count_before(including)
  return math.max(top, math.min(rank_of(key, ARGV[6], ARGV[7], including), bottom)) - top
end

local from, to = page_ranks(ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), total, ARGV[6] ~= "" and count_before or nil)
local entries = from < to and redis.call("ZRANGE", key, top + from, top + to - 1, "REV", "WITHSCORES") or {}
return page_reply(from, total, entries)
