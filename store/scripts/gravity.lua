-- Put before the scripts that rank by GRAVITY: reading its index by classes, in steps.
-- KEYS  1 gravity index   2 votes index of the same listing
-- ARGV  1 the instant (unix milliseconds)   2 exponent of votes   3 exponent of age   4 minutes added to every age
--       5 how many articles and classes a step may look at, about
--
-- A listing has three parts: votes beyond the poster's, none (all of value 0), fewer. What is left of 1 vote is the base
-- of an article, and how far its value is from 0 its size. The index has each of the outer two parts by marks: by classes
-- of bases that are alike, and in a class by time. Size falls with age, and is between that of the class's least and most
-- base.
local at, power, fall, delay = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local index, by_votes = KEYS[1], KEYS[2]
local CLASS, ALIKE, LAST = 2 ^ 42, 4, 255
local SLACK = 1e-9 -- what a computation may be off by
local left = tonumber(ARGV[5]) -- how much this step may still look at

local function weight(sign, base) return sign > 0 and base ^ power or base end

local function fading(time) return ((math.max(at - time, 0) / 60000 + delay) / 60) ^ fall end

local function size(sign, base, time) return weight(sign, base) / fading(time) end

-- Between which times a base is of a size: what is older is surely smaller, what is younger surely larger.
local function times(sign, base, wanted)
  local span = (weight(sign, base) / wanted) ^ (1 / fall) * 3600000
  local instant = at + delay * 60000
  local first, last = instant - span * (1 + SLACK) - 1, instant - span * (1 - SLACK) + 1
  if first > at then return CLASS, CLASS end -- not even what is of age 0
  return math.max(math.floor(first), 0), last >= at and CLASS or math.max(math.ceil(last), 0)
end

local function above(one, other)
  return one.value > other.value or one.value == other.value and one.member > other.member
end

-- The least and the most base of a class: of the numbers with the same binary digits in front.
local function bases(class)
  if class < 2 * ALIKE then return class, class end
  local width = 2 ^ (math.floor(class / ALIKE) - 1)
  local least = (ALIKE + class % ALIKE) * width
  return least, least + width - 1
end

-- Members and marks of a part, from one mark to another, in this order, after some that are passed over.
local function range(sign, from, to, passed, count)
  local flat
  if sign * from > sign * to then
    flat = redis.call("ZRANGE", index, sign * from, sign * to, "BYSCORE", "REV", "LIMIT", passed, count, "WITHSCORES")
  else
    flat = redis.call("ZRANGE", index, sign * from, sign * to, "BYSCORE", "LIMIT", passed, count, "WITHSCORES")
  end
  local members, marks = {}, {}
  for i = 1, #flat, 2 do members[#members + 1], marks[#marks + 1] = flat[i], sign * flat[i + 1] end
  left = left - 1 - #members
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

-- An article of the listing as a place; nil where it is not listed.
local function place_of(member)
  local votes, score = redis.call("ZSCORE", by_votes, member), redis.call("ZSCORE", index, member)
  if not votes or not score then return nil end
  local base, sign = votes - 1, votes - 1 < 0 and -1 or 1
  if base == 0 then return {member = member, value = 0} end
  return {member = member, value = sign * size(sign, sign * base, sign * score % CLASS)}
end

-- How many of equal value 0 are above a member.
local function even_above(member)
  local low = redis.call("ZCOUNT", by_votes, "(1", "+inf")
  local first, high = low, low + redis.call("ZCOUNT", by_votes, 1, 1)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if redis.call("ZRANGE", by_votes, middle, middle, "REV")[1] > member then low = middle + 1 else high = middle end
  end
  return low - first
end
