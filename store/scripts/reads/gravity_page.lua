-- One step of reading the positions of one partition that follow a position in the order GRAVITY.
-- requires: gravity_search
-- KEYS  see gravity_index.lua
-- ARGV  1-5 see gravity_index.lua   6 "down" or "up": direction of the page   7 how many positions are wanted
--       8 value and 9 member of the position, which may be missing from the listing, or ""
--       and, to continue an earlier step: 10 part in which it stopped (1, 0, -1)   11 number of open runs
--       of each run: mark to go on from, articles of that mark already read, its base or 0 for all
--       of each position found so far: member, value
-- Reply {"more", part, number of runs, mark, read, base, ..., member, value, ...}: send these as ARGV 10 and following
--       | {"whole", number of articles of the listing, 1 if any is at the position or behind it, else 0, member, value,
--          ...}; positions in any order
local wanted = tonumber(ARGV[7])
local position = ARGV[8] ~= "" and {value = tonumber(ARGV[8]), member = ARGV[9]}

-- The next positions of value 0, beyond a position if given.
local function zeros(beyond, limit)
  local first, found = redis.call("ZCOUNT", by_votes, "(1", "+inf"), {}
  local last = first + redis.call("ZCOUNT", by_votes, 1, 1)
  if down then
    if beyond then
      local is_taken = redis.call("ZSCORE", by_votes, beyond.member) == "1" and 1 or 0
      first = first + zeros_above(beyond.member) + is_taken
    end
    last = math.min(last, first + limit)
  else
    if beyond then last = first + zeros_above(beyond.member) end
    first = math.max(first, last - limit)
  end
  if first >= last then return found end
  for i, member in ipairs(redis.call("ZRANGE", by_votes, first, last - 1, "REV")) do
    found[i] = {member = member, value = 0}
  end
  budget = budget - #found
  return found
end

local function sign_of(value) return value > 0 and 1 or value < 0 and -1 or 0 end

-- Finds the next `count` positions beyond a position, or from the end of the listing. `resumed` is where an earlier
-- step stopped, and `known` what it found. Returns positions, and where this step stops if its budget is spent.
local function next_positions(beyond, count, resumed, known)
  local start, positions = beyond and sign_of(beyond.value), {}
  for _, sign in ipairs(down and {1, 0, -1} or {-1, 0, 1}) do
    local is_passed = start and (down and sign > start or not down and sign < start)
    if not is_passed and #positions < count then
      local edge, wanted, found, open = sign == start and beyond or nil, count - #positions, {}, {}
      for _, position in ipairs(known) do
        if sign_of(position.value) == sign then found[#found + 1] = position end
      end
      local is_done = resumed and (down and sign > resumed.part or not down and sign < resumed.part)
      if not is_done and sign == 0 then
        found = zeros(edge, wanted)
      elseif not is_done then
        found, open = search(sign, edge, wanted, found, resumed and resumed.part == sign and resumed.runs or nil)
      end
      for _, position in ipairs(found) do positions[#positions + 1] = position end
      if open[1] then return positions, {part = sign, runs = open} end
    end
  end
  return positions
end

-- 1 if an article is at the position or behind it, opposite to the direction of the page; else 0.
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
