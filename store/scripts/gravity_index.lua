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

-- Between which times something of a weight is of a size: what is older is surely smaller, what is younger surely larger.
local function times(weighed, wanted)
  local ratio, instant = weighed / wanted, at + delay * 60000
  local first = instant - (ratio * (1 + SLACK)) ^ (1 / fall) * 3600000 - 1
  local last = instant - (ratio * (1 - SLACK)) ^ (1 / fall) * 3600000 + 1
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

-- Members and signed marks of a part in turn, from one mark outward or inward to another, after some that are passed over.
local function range(sign, outward, from, to, passed, count)
  local flat
  if outward == (sign > 0) then
    flat = redis.call("ZRANGE", index, sign * from, sign * to, "BYSCORE", "LIMIT", passed, count, "WITHSCORES")
  else
    flat = redis.call("ZRANGE", index, sign * from, sign * to, "BYSCORE", "REV", "LIMIT", passed, count, "WITHSCORES")
  end
  left = left - 1 - #flat / 2
  return flat
end

-- How many a part has between two marks, the lesser first.
local function number_between(sign, from, to)
  left = left - 1
  if sign > 0 then return redis.call("ZCOUNT", index, from, to) end
  return redis.call("ZCOUNT", index, -to, -from)
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
