-- One step of reading the positions of one partition that follow a position in the order GRAVITY, by votes that lose
-- weight with age. A search that takes long is done in several steps, so that none blocks the server.
-- requires: gravity_search
-- from gravity_classes: CLASS (milliseconds between two classes)
-- from gravity_index: position_of(member) -> {member, value} | nil,
--   budget (articles and classes that this step may still read),
--   index (the index of GRAVITY of the listing that is read; a script with several listings sets it anew)
-- from gravity_search: comes_before(one, other),
--   next_positions(beyond, count, resumed, known, limit) -> (positions, where it stopped | nil),
--   LATER_READ (articles to read of a class once there are enough candidates)
-- KEYS  1 index of GRAVITY   2 index of VOTES of the same listing
-- ARGV  of the formula, which gravity_index.lua reads: 1 the instant (unix milliseconds)   2 exponent of votes
--       3 exponent of age   4 minutes added to every age   5 about how many articles and classes this step may read
--       6 "down" or "up": direction of the page   7 how many positions are wanted
--       8 value and 9 member of the position, which may be missing from the listing, or "" and, to continue an earlier
--       step: 10 part in which it stopped (1, 0, -1)   11 number of open runs
--       then of each run: mark to go on from, articles of that mark already read, its base or 0 for all
--       then of each position found so far: member, value
-- Reply {"more", part, number of runs, mark, read, base, ..., member, value, ...}: send these as ARGV 10 and following
--       | {"whole", number of articles of the listing, 1 if any is at the position or behind it, else 0, member, value,
--          ...}; positions in any order
--
-- The base of an article is votes - 1. A listing has three parts: positive bases, base 0 and negative ones. A class has the
-- articles of similar bases, and the index has the mark of each article: class * 2^42 + posting time. A run is the
-- reading of one class, from a mark on.
local wanted = tonumber(ARGV[7])
local position = ARGV[8] ~= "" and {value = tonumber(ARGV[8]), member = ARGV[9]}

-- 1 if an article is at the position, or on the side of it that the page is not on; else 0.
local function has_behind()
  if not position then return 0 end
  local found = position_of(position.member)
  if found and not comes_before(position, found) then return 1 end
  budget = math.huge -- the first position of a listing takes few commands
  local first = next_positions(nil, 1, nil, {})[1]
  return first and not comes_before(position, first) and 1 or 0
end

local resumed, known = nil, {}
if ARGV[10] then
  resumed = {part = tonumber(ARGV[10]), runs = {}}
  local first = 12 + 3 * ARGV[11]
  for i = 12, first - 1, 3 do
    local mark, ties, base = tonumber(ARGV[i]), tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
    local class = math.floor(mark / CLASS)
    resumed.runs[#resumed.runs + 1] = {class, base, mark - class * CLASS, ties, LATER_READ}
  end
  for i = first, #ARGV, 2 do known[#known + 1] = {member = ARGV[i], value = tonumber(ARGV[i + 1])} end
end

local positions, stop = next_positions(position, wanted, resumed, known)
local reply
if stop then
  reply = {"more", stop.part, #stop.runs}
  for _, run in ipairs(stop.runs) do
    local class, base, time, ties = unpack(run)
    reply[#reply + 1] = string.format("%.0f", class * CLASS + time)
    reply[#reply + 1] = ties
    reply[#reply + 1] = base
  end
else
  reply = {"whole", redis.call("ZCARD", index), has_behind()}
end
for _, found in ipairs(positions) do
  reply[#reply + 1] = found.member
  reply[#reply + 1] = string.format("%.17g", found.value)
end
return reply
