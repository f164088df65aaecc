-- Read a page of an inbox, newest first.
-- KEYS  of partition p: 1 inbox:{p}:NAME   2 user:{p}:NAME
-- ARGV  1 how many notifications   2 "up" for those before a position, else "down"
--       3 value and 4 number (16 digits) of the position; "" for none   5 "unseen" for the unseen ones only, else ""
-- Reply {how many there are (of the unseen ones), how many come before the page, how many are unseen,
--       the mark up to which the user has seen the inbox, or "", member, value, ...}
local direction, from_value, from_number = ARGV[2], ARGV[3], ARGV[4]
local inbox = KEYS[1]

-- How many notifications come before a position, and at it: two numbers.
local function rank(value, number)
  local before, at = redis.call("ZCOUNT", inbox, "(" .. value, "+inf"), 0
  for _, member in ipairs(redis.call("ZRANGE", inbox, value, value, "BYSCORE")) do
    local other = string.sub(member, 1, 16)
    if other > number then before = before + 1 end
    if other == number then at = at + 1 end
  end
  return before, at
end

local total = redis.call("ZCARD", inbox)
local mark = redis.call("HGET", KEYS[2], "inbox_seen") or ""
local seen, seen_number = string.match(mark, "^(%d+) (%d+)$")
local unseen = seen and rank(seen, seen_number) or total -- those before the mark
local listed = ARGV[5] == "unseen" and unseen or total

local count, first, last = tonumber(ARGV[1]), 0, listed
if from_number ~= "" then
  local before, at = rank(from_value, from_number)
  if direction == "up" then last = math.min(before, listed) else first = math.min(before + at, listed) end
end
if direction == "up" then first = math.max(last - count, 0) else last = math.min(first + count, listed) end
local page = last > first and redis.call("ZRANGE", inbox, first, last - 1, "REV", "WITHSCORES") or {}
return {listed, first, unseen, mark, unpack(page)}
