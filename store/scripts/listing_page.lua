-- One partition's share of a page of a listing, highest first, ties by the higher member.
-- KEYS  1 the index
-- ARGV  1 lowest and 2 highest value that is listed, as ZCOUNT takes them   3 "down" or "up": which way the page goes on
--       4 how many   5 how many to skip   6 value and 7 member of the position to go on from, or ""
-- Reply "how many of the listing are above the share, how many the listing has, member, value, ...", with spaces between:
-- one text is read, and known again, quicker than a list
local key, lowest, highest, direction = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local count, skip = tonumber(ARGV[4]), tonumber(ARGV[5])

-- Ranks from the top: the listing is [top, bottom).
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

local share = from < to and redis.call("ZRANGE", key, from, to - 1, "REV", "WITHSCORES") or {}
table.insert(share, 1, total)
table.insert(share, 1, from - top)
return table.concat(share, " ")
