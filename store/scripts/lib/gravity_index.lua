-- Functions that read the index of the order GRAVITY (by votes that lose weight with age) in steps.
-- requires: gravity_classes
-- from gravity_classes: CLASS (milliseconds between two classes)
-- KEYS  1 index of GRAVITY   2 index of VOTES of the same listing
-- ARGV  1 the instant (unix milliseconds)   2 exponent of votes   3 exponent of age   4 minutes added to every age
--       5 about how many articles and classes a step may read   from 6 on: see the script
--
-- The base of an article is votes - 1; its value is base ^ exponent / decay, where the decay grows with age. As no
-- index can have values that change with time, this one has marks: class * 2^42 + posting time, where a class has the
-- articles of similar bases.
-- A listing has three parts: positive bases (sign 1), base 0 (all of value 0), negative bases (sign -1). The functions take
-- absolute values of bases and marks, and the sign beside them. The size of an article is the absolute value of its value.
local at = tonumber(ARGV[1]) -- the instant at which the order is read (unix milliseconds)
local delay = tonumber(ARGV[4]) -- minutes added to every age
local votes_exponent, age_exponent = tonumber(ARGV[2]), tonumber(ARGV[3])
local index = KEYS[1] -- the index of GRAVITY of the listing that is read; a script with several listings sets it anew
local by_votes = KEYS[2] -- the index of VOTES of the same listing
local TOLERANCE = 1e-9 -- relative error of a computation
local budget = tonumber(ARGV[5]) -- articles and classes that this step may still read

-- The value of an article of this base before it decays.
local function weight(sign, base) return sign > 0 and base ^ votes_exponent or base end

-- By what the value of an article posted at a time is divided.
local function decay(time) return ((math.max(at - time, 0) / 60000 + delay) / 60) ^ age_exponent end

local function size(sign, base, time) return weight(sign, base) / decay(time) end

local function value_of(base, time)
  if base == 0 then return 0 end
  local sign = base > 0 and 1 or -1
  return sign * size(sign, sign * base, time)
end

-- The first and the last posting time at which an article of this weight may have this size. One posted before the first is
-- smaller, one posted after the last is larger. CLASS, which is later than any posting time, stands for "none": the first
-- is CLASS if even an article of age 0 is smaller, the last is CLASS if no article is larger.
local function time_bounds(weight, size) --> (first, last)
  local ratio, instant = weight / size, at + delay * 60000
  local first = instant - (ratio * (1 + TOLERANCE)) ^ (1 / age_exponent) * 3600000 - 1
  local last = instant - (ratio * (1 - TOLERANCE)) ^ (1 / age_exponent) * 3600000 + 1
  if first > at then return CLASS, CLASS end
  return math.max(math.floor(first), 0), last >= at and CLASS or math.max(math.ceil(last), 0)
end

local function stands_above(one, other)
  return one.value > other.value or one.value == other.value and one.member > other.member
end

-- Reads {member, signed mark, ...} of a part from one mark to another, away from 0 or (not `outward`) towards it, after
-- the first `skipped` members.
local function read_marks(sign, outward, from, to, skipped, count) --> {member, mark, ...}
  local flat
  if outward == (sign > 0) then
    flat = redis.call("ZRANGE", index, sign * from, sign * to, "BYSCORE", "LIMIT", skipped, count, "WITHSCORES")
  else
    flat = redis.call("ZRANGE", index, sign * from, sign * to, "BYSCORE", "REV", "LIMIT", skipped, count, "WITHSCORES")
  end
  budget = budget - 1 - #flat / 2
  return flat
end

-- Counts the articles of a part between two marks, the lower first.
local function count_marks(sign, from, to) --> number
  budget = budget - 1
  if sign > 0 then return redis.call("ZCOUNT", index, from, to) end
  return redis.call("ZCOUNT", index, -to, -from)
end

-- The position of an article, {member, value}; nil if it is not in the listing.
local function position_of(member) --> {member, value} | nil
  local votes, score = redis.call("ZSCORE", by_votes, member), redis.call("ZSCORE", index, member)
  if not votes or not score then return nil end
  local base, sign = votes - 1, votes - 1 < 0 and -1 or 1
  if base == 0 then return {member = member, value = 0} end
  return {member = member, value = sign * size(sign, sign * base, sign * score % CLASS)}
end

-- Counts the articles of value 0 above a member.
local function zeros_above(member) --> number
  local low = redis.call("ZCOUNT", by_votes, "(1", "+inf")
  local first, high = low, low + redis.call("ZCOUNT", by_votes, 1, 1)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if redis.call("ZRANGE", by_votes, middle, middle, "REV")[1] > member then low = middle + 1 else high = middle end
  end
  return low - first
end
