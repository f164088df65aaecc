-- One partition's share of a page in the order GRAVITY, highest first, ties by the higher member.
-- ARGV  5 "down" or "up": which way the page goes on   6 how many   7 value and 8 member of the position to go on
--       from, or ""
-- Reply {how many of the listing are above the share, how many the listing has, member, value, ...}
down = ARGV[5] == "down"
local position = ARGV[7] ~= "" and {value = tonumber(ARGV[7]), member = ARGV[8]}
local share = nearest(position, tonumber(ARGV[6]))
local first, last, step = down and 1 or #share, down and #share or 1, down and 1 or -1

local total = redis.call("ZCARD", index)
local reply = {down and 0 or total - #share, total}
if position then
  reply[1] = share[1] and all_above(share[first]) or down and total or 0
end
for i = first, last, step do
  reply[#reply + 1] = share[i].member
  reply[#reply + 1] = string.format("%.17g", share[i].value)
end
return reply
