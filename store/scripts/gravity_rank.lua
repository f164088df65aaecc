-- One step of counting how many of one partition stand above a place in the order GRAVITY.
-- ARGV  6 value and 7 member of the place
--       then, where an earlier step stopped: 8 mark to go on from   9 how many of that mark were looked at
--       10 how many were counted
-- Reply {"more", mark, how many of it, how many}, to send as 8 and following | {"whole", how many}
local place = {value = tonumber(ARGV[6]), member = ARGV[7]}
local sign, wanted = place.value > 0 and 1 or -1, math.abs(place.value)
local number = tonumber(ARGV[10] or 0) -- of those further from 0

local function unzipped(sign, flat)
  local members, marks = {}, {}
  for i = 1, #flat / 2 do members[i], marks[i] = flat[2 * i - 1], sign * flat[2 * i] end
  return members, marks
end

-- The exact bases of articles of a class.
local function bases_of(sign, class, members)
  local least, most = bases(class)
  local found = {}
  if least == most or not members[1] then
    for i = 1, #members do found[i] = least end
  else
    for i, votes in ipairs(redis.call("ZMSCORE", by_votes, unpack(members))) do found[i] = sign * (votes - 1) end
  end
  return found
end

-- Count one by one those of a class that may be further, from one mark to another; where to go on, if this is too much.
local function try(class, mark, last, ties)
  repeat
    local members, marks = unzipped(sign, range(sign, false, mark, last, ties, 100))
    for i, base in ipairs(bases_of(sign, class, members)) do
      local other = {member = members[i], value = sign * size(sign, base, marks[i] - class * CLASS)}
      if sign > 0 and above(other, place) or sign < 0 and above(place, other) then number = number + 1 end
      mark, ties = marks[i], marks[i] == mark and ties + 1 or 1
    end
    if #members < 100 then return nil end
  until left < 0
  return {"more", string.format("%.0f", mark), ties, number}
end

-- Count those of a class that are further from 0: which surely are, at once.
local function count(class, mark, ties)
  local least, most = bases(class)
  local smaller, larger = times(weight(sign, most), wanted), select(2, times(weight(sign, least), wanted))
  local from, to = class * CLASS, class * CLASS + CLASS - 1
  if mark == to and larger < CLASS then
    number = number + number_between(sign, from + larger + 1, to)
  end
  local youngest = math.min(mark, from + larger)
  return smaller < CLASS and try(class, youngest, from + smaller, youngest == mark and ties or 0) or nil
end

local function further()
  local mark, ties = tonumber(ARGV[8] or LAST * CLASS + CLASS - 1), tonumber(ARGV[9] or 0)
  while mark do
    local class = math.floor(mark / CLASS)
    local _, most = bases(class)
    if class == 0 or size(sign, most, at) < wanted * (1 - SLACK) then return nil end
    local stop = count(class, mark, ties)
    if stop then return stop end
    local next = range(sign, false, class * CLASS - 1, CLASS, 0, 1)
    mark, ties = next[2] and math.floor(sign * next[2] / CLASS) * CLASS + CLASS - 1, 0
    if mark and left < 0 then return {"more", string.format("%.0f", mark), 0, number} end
  end
end

local stop = place.value ~= 0 and further()
if stop then return stop end
if place.value > 0 then return {"whole", number} end

if place.value == 0 then
  return {"whole", redis.call("ZCOUNT", by_votes, "(1", "+inf") + even_above(place.member)}
end
local there = place_of(place.member)
local is_there = there and there.value == place.value and 1 or 0
return {"whole", redis.call("ZCARD", index) - number - is_there}
