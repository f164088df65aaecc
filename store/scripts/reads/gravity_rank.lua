-- One step of counting the articles of one partition above a position in the order GRAVITY, by votes that lose weight
-- with age. A count that takes long is done in several steps, so that none blocks the server.
-- requires: gravity_index
-- from gravity_classes: bases_of(class) -> (lowest, highest), CLASS (milliseconds between two classes),
--   LAST_CLASS (the highest class)
-- from gravity_index: by_votes (the index of VOTES of the same listing),
--   read_marks(sign, outward, from, to, skipped, count) -> {member, mark, ...}, size(sign, base, time),
--   stands_above(one, other), budget (articles and classes that this step may still read),
--   time_bounds(weight, size) -> (first, last), weight(sign, base), count_marks(sign, from, to) -> number,
--   at (the instant at which the order is read (unix milliseconds)), TOLERANCE (relative error of a computation),
--   zeros_above(member) -> number, position_of(member) -> {member, value} | nil,
--   index (the index of GRAVITY of the listing that is read; a script with several listings sets it anew)
-- KEYS  1 index of GRAVITY   2 index of VOTES of the same listing
-- ARGV  of the formula, which gravity_index.lua reads: 1 the instant (unix milliseconds)   2 exponent of votes
--       3 exponent of age   4 minutes added to every age   5 about how many articles and classes this step may read
--       6 value and 7 member of the position and, to continue an earlier step: 8 mark to go on from
--       9 articles of that mark already read   10 count so far
-- Reply {"more", mark, articles of that mark already read, count so far}: send these as ARGV 8 to 10 of the next step
--       | {"whole", number of articles above}
--
-- The base of an article is votes - 1. A listing has three parts: positive bases, base 0 and negative ones. A class has the
-- articles of similar bases, and the index has the mark of each article: class * 2^42 + posting time.
local position = {value = tonumber(ARGV[6]), member = ARGV[7]}
local sign, position_size = position.value > 0 and 1 or -1, math.abs(position.value)
local number = tonumber(ARGV[10] or 0) -- how many articles of the position's part are further from 0

local READ_AT_ONCE = 100 -- articles of a class

-- {member, signed mark, ...} as two lists, with the marks as absolute values.
local function members_and_marks(sign, flat)
  local members, marks = {}, {}
  for i = 1, #flat / 2 do members[i], marks[i] = flat[2 * i - 1], sign * flat[2 * i] end
  return members, marks
end

-- The exact bases of articles of a class.
local function read_bases(sign, class, members)
  local lowest, highest = bases_of(class)
  local found = {}
  if lowest == highest or not members[1] then
    for i = 1, #members do found[i] = lowest end
  else
    for i, votes in ipairs(redis.call("ZMSCORE", by_votes, unpack(members))) do found[i] = sign * (votes - 1) end
  end
  return found
end

-- Compares each article of a class from one mark down to another, and counts those that are further from 0. `ties` are the
-- articles of the first mark that were read before. Returns the reply of the step if its budget is spent, else nil.
local function count_each(class, mark, last, ties)
  repeat
    local members, marks = members_and_marks(sign, read_marks(sign, false, mark, last, ties, READ_AT_ONCE))
    for i, base in ipairs(read_bases(sign, class, members)) do
      local other = {member = members[i], value = sign * size(sign, base, marks[i] - class * CLASS)}
      if sign > 0 and stands_above(other, position) or sign < 0 and stands_above(position, other) then
        number = number + 1
      end
      mark, ties = marks[i], marks[i] == mark and ties + 1 or 1
    end
    if #members < READ_AT_ONCE then return nil end
  until budget < 0
  return {"more", string.format("%.0f", mark), ties, number}
end

-- Counts the articles of a class that are further from 0: all at once where their time decides, else one by one. Returns
-- the reply of the step if its budget is spent, else nil.
local function count_class(class, mark, ties)
  local lowest, highest = bases_of(class)
  local first = time_bounds(weight(sign, highest), position_size) -- articles posted before are nearer to 0
  local last = select(2, time_bounds(weight(sign, lowest), position_size)) -- articles posted after are further from 0
  local from, to = class * CLASS, class * CLASS + CLASS - 1
  if mark == to and last < CLASS then -- otherwise an earlier step has stopped in this class, and has counted them
    number = number + count_marks(sign, from + last + 1, to)
  end
  local youngest = math.min(mark, from + last)
  return first < CLASS and count_each(class, youngest, from + first, youngest == mark and ties or 0) or nil
end

-- Counts the articles of the position's part that are further from 0, from the highest class on. Returns the reply of the
-- step if its budget is spent, else nil.
local function count_further()
  local mark, ties = tonumber(ARGV[8] or LAST_CLASS * CLASS + CLASS - 1), tonumber(ARGV[9] or 0)
  while mark do
    local class = math.floor(mark / CLASS)
    local _, highest = bases_of(class)
    if class == 0 or size(sign, highest, at) < position_size * (1 - TOLERANCE) then return nil end
    local stop = count_class(class, mark, ties)
    if stop then return stop end
    local next = read_marks(sign, false, class * CLASS - 1, CLASS, 0, 1) -- the highest mark of the lower classes
    mark, ties = next[2] and math.floor(sign * next[2] / CLASS) * CLASS + CLASS - 1, 0
    if mark and budget < 0 then return {"more", string.format("%.0f", mark), 0, number} end
  end
end

local stop = position.value ~= 0 and count_further()
if stop then return stop end
if position.value > 0 then return {"whole", number} end

if position.value == 0 then
  return {"whole", redis.call("ZCOUNT", by_votes, "(1", "+inf") + zeros_above(position.member)}
end
-- Of negative values, those further from 0 are lower.
local found = position_of(position.member)
local is_taken = found and found.value == position.value and 1 or 0
return {"whole", redis.call("ZCARD", index) - number - is_taken}
