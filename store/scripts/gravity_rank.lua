-- How many of one partition stand above each of some places in the order GRAVITY, and which is the nearest of them.
-- ARGV  5 value and 6 member of the first place, and so on
-- Reply {how many, member, value; ...} for each place; without any, member and value are ""
down = false
local reply = {}
for i = 5, #ARGV, 2 do
  local place = {value = tonumber(ARGV[i]), member = ARGV[i + 1]}
  local next = nearest(place, 1)[1]
  reply[#reply + 1] = next and all_above(place) or 0
  reply[#reply + 1] = next and next.member or ""
  reply[#reply + 1] = next and string.format("%.17g", next.value) or ""
end
return reply
