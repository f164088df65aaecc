-- Put before the scripts that rank by GRAVITY: an article's value at an instant, by votes and age, and counting by it.
-- KEYS  1 gravity index   2 votes index of the same listing   3 article:{p}: (a number is appended)
-- ARGV  1 the instant (unix milliseconds)   2 exponent of votes   3 exponent of age   4 minutes added to every age
--
-- A listing has three parts: votes beyond the poster's, none (all of value 0), fewer. The outer two are walked by
-- buckets of an hour, in which votes are in order: no article of a bucket is further from 0 than its largest votes at
-- its youngest age, nor nearer than its smallest at its oldest. A walk ends where nothing left can matter.
local at, power, fall, delay = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local index, by_votes, ARTICLE = KEYS[1], KEYS[2], KEYS[3]
local HOUR, BUCKET, MIDDLE, MOST, BATCH = 3600000, 2 ^ 30, 2 ^ 29 + 1, 2 ^ 29 - 2, 4

local function decay(time) return ((math.max(at - time, 0) / 60000 + delay) / 60) ^ fall end

local function youngest(hour) return (hour + 1) * HOUR end
local function oldest(hour) return hour * HOUR end

-- `base` is how far the votes are from 1, `sign` on which side.
local function value(sign, base, time)
  if sign > 0 then return base ^ power / decay(time) end
  return -base / decay(time)
end

-- The base that has a value at a time, a fraction as a rule.
local function base_of(sign, worth, time)
  local votes = math.abs(worth) * decay(time)
  return sign > 0 and votes ^ (1 / power) or votes
end

-- How old a base has a value, in milliseconds; below 0 where it never had as much.
local function age_of(sign, base, worth)
  return (math.abs(value(sign, base, at) * decay(at) / worth) ^ (1 / fall) * 60 - delay) * 60000
end

local function above(one, other)
  return one.value > other.value or one.value == other.value and one.member > other.member
end

local function whole(number) return string.format("%.0f", number) end

local function article(sign, member, base)
  local time = tonumber(redis.call("HGET", ARTICLE .. whole(tonumber(member)), "time")) or 0
  return {member = member, value = value(sign, base, time)}
end

-- The hour nearest to one, which counts too, of which the index has anything; before it, or after.
local function bucket(hour, after)
  local found
  if after then
    found = redis.call("ZRANGE", index, whole(hour * BUCKET), "+inf", "BYSCORE", "LIMIT", 0, 1, "WITHSCORES")
  else
    local below = "(" .. whole((hour + 1) * BUCKET)
    found = redis.call("ZRANGE", index, below, "-inf", "BYSCORE", "REV", "LIMIT", 0, 1, "WITHSCORES")
  end
  return found[2] and math.floor(tonumber(found[2]) / BUCKET)
end

-- Some members of a bucket whose bases are from `least` to `most`, and their bases; the largest or the smallest first.
local function stretch(sign, hour, least, most, largest_first, offset)
  if least > most then return {} end
  local middle = hour * BUCKET + MIDDLE
  local low, high = middle + sign * least, middle + sign * most
  local first, last = whole(largest_first and high or low), whole(largest_first and low or high)
  local command = {"ZRANGE", index, first, last, "BYSCORE", "LIMIT", offset, BATCH, "WITHSCORES"}
  if tonumber(first) > tonumber(last) then table.insert(command, 6, "REV") end
  local flat, found = redis.call(unpack(command)), {}
  for i = 1, #flat, 2 do found[#found + 1] = {member = flat[i], base = sign * (tonumber(flat[i + 1]) - middle)} end
  return found
end

-- The largest bases of the listing, from a rank on.
local function largest(sign, rank)
  local found = sign > 0 and redis.call("ZRANGE", by_votes, rank, rank, "REV", "WITHSCORES")
    or redis.call("ZRANGE", by_votes, rank, rank, "WITHSCORES")
  local base = found[2] and sign * (tonumber(found[2]) - 1) or 0
  return base > 0 and {member = found[1], base = base} or nil
end

-- The base from which on some of a bucket are further from 0 than a place, and that from which on all are; both with
-- room for what a computation is off by.
local function bases(sign, place, hour)
  local some = math.ceil(base_of(sign, place.value, youngest(hour)) * (1 - 1e-9))
  local all = math.floor(base_of(sign, place.value, oldest(hour)) * (1 + 1e-9)) + 1
  return math.max(some, 1), math.min(math.max(all, 1), MOST + 1)
end

-- How many of a part are further from 0 than a place of it.
local function further(sign, place)
  local most, number, hour = largest(sign, 0), 0, bucket(2 ^ 20, false)
  while most and hour and math.abs(value(sign, most.base, youngest(hour))) >= math.abs(place.value) do
    local unsure, sure = bases(sign, place, hour)
    local middle = hour * BUCKET + MIDDLE
    local near, far = whole(middle + sign * sure), whole(middle + sign * MOST)
    number = number + (sign > 0 and redis.call("ZCOUNT", index, near, far) or redis.call("ZCOUNT", index, far, near))
    local offset, found = 0, nil
    repeat
      found = stretch(sign, hour, unsure, sure - 1, true, offset)
      for _, each in ipairs(found) do
        local other = article(sign, each.member, each.base)
        if sign > 0 and above(other, place) or sign < 0 and above(place, other) then number = number + 1 end
      end
      offset = offset + BATCH
    until #found < BATCH
    hour = bucket(hour - 1, false)
  end
  return number
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

-- How many of the listing are above a place.
local function all_above(place)
  if place.value > 0 then return further(1, place) end
  local number = redis.call("ZCOUNT", by_votes, "(1", "+inf")
  if place.value == 0 then return number + even_above(place.member) end
  local fewer = redis.call("ZCOUNT", by_votes, "-inf", "(1")
  local is_there = 0
  local votes = redis.call("ZSCORE", by_votes, place.member)
  if votes and tonumber(votes) < 1 and article(-1, place.member, 1 - tonumber(votes)).value == place.value then
    is_there = 1
  end
  return number + redis.call("ZCOUNT", by_votes, 1, 1) + fewer - further(-1, place) - is_there
end
