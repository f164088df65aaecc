-- Search of the positions that come next, beyond a position, in the order GRAVITY: by votes that lose weight with age.
-- The base of an article is its votes - 1. Positive bases, base 0 and negative ones are three parts of a listing; in a
-- part, a class has articles of similar bases, by time. The index has the mark of each article: class * 2^42 + posting time.
-- requires: gravity_index
-- from gravity_classes: CLASS (milliseconds between two classes), bases_of(class) -> (lowest, highest),
--   CLASSES_PER_DIGIT (classes of bases with the same number of binary digits, from class 8 on)
-- from gravity_index: stands_above(one, other), by_votes (the index of VOTES of the same listing), weight(sign, base),
--   budget (articles and classes that this step may still read), time_bounds(weight, size) -> (first, last),
--   read_marks(sign, outward, from, to, skipped, count) -> {member, mark, ...}, decay(time),
--   count_marks(sign, from, to) -> number,
--   index (the index of GRAVITY of the listing that is read; a script with several listings sets it anew),
--   zeros_above(member) -> number
-- KEYS  1 index of GRAVITY   2 index of VOTES of the same listing
-- ARGV  of the formula, which gravity_index.lua reads: 1 the instant (unix milliseconds)   2 exponent of votes
--       3 exponent of age   4 minutes added to every age   5 about how many articles and classes this step may read
--       6 "down" or "up": direction of the page
--
-- Classes are read in runs. A run reads the articles of a class in the order of their time, from the first that may
-- lie beyond the position. Of articles with equal votes each next one comes later in the page. So a run ends once the
-- best votes of its class cannot place an article before the last candidate. If the votes decide for many articles of
-- a class on which side of the position they lie, the class has a run for each base, which skips all other bases.
--
-- A run is {class, base or 0 for all, time to go on from, ties: articles of that time already read, count: articles to
-- read next}.
local down = ARGV[6] == "down"
local LATER_READ = 4 -- articles to read of a class once there are enough candidates
local FIRST_READ, MAX_READ = 3, 128 -- articles to read of a class at first, and at most
local MIN_NEW = 16 -- articles to read at least before the candidates are sorted out again
local MOST_UNSURE = 5 -- for each base of a class: so many articles for which the votes decide are read in one run

local function comes_before(one, other)
  if down then return stands_above(one, other) end
  return stands_above(other, one)
end

-- Adds an article of a size (the absolute value of its value), unless it comes after the last candidate or does not lie
-- beyond the position. `search` says what `state` has.
local function add_candidate(state, member, size)
  local outward, last, edge = state.outward, state.last_size, state.edge
  if last and size ~= last and outward == (size > last) or state.is_known[member] then return end -- too far, or known
  if edge then
    if size ~= edge and outward == (size < edge) then return end
    local beyond = state.beyond.member
    if size == edge and (down and member >= beyond or not down and member <= beyond) then return end
  end
  local members = state.members
  local place = #members + 1
  members[place], state.sizes[place] = member, size
end

-- Reads the votes of articles whose class does not determine their base, and adds these as candidates.
local function read_votes(state)
  local unread = state.unread
  if not unread.members[1] then return end
  for i, votes in ipairs(redis.call("ZMSCORE", by_votes, unpack(unread.members))) do
    local base = state.sign * (votes - 1)
    if unread.bases[i] == 0 or unread.bases[i] == base then
      add_candidate(state, unread.members[i], weight(state.sign, base) / unread.decays[i])
    end
  end
  state.unread = {members = {}, decays = {}, bases = {}}
end

-- Keeps the first `wanted` candidates and their ties, and notes the size of the last of them.
local function sort_out(state)
  read_votes(state)
  state.new = 0
  local members, sizes, wanted, outward = state.members, state.sizes, state.wanted, state.outward
  if #sizes < wanted then return end
  local sorted = {}
  for i = 1, #sizes do sorted[i] = sizes[i] end
  table.sort(sorted)
  local last = sorted[outward and wanted or #sorted + 1 - wanted]
  state.members, state.sizes, state.last_size = {}, {}, last
  for i, size in ipairs(sizes) do
    if size == last or outward == (size < last) then
      local kept = #state.members + 1
      state.members[kept], state.sizes[kept] = members[i], size
    end
  end
end

-- Reads the next articles of a run. Keeps it open if it may have more, or if the budget of this step is spent.
local function read_run(state, class, base, time, ties, count)
  if time == CLASS then return end -- no article of the class lies beyond the position
  if budget < 0 then
    state.runs[#state.runs + 1] = {class, base, time, ties, count}
    return
  end
  local sign, outward, unread, mark = state.sign, state.outward, state.unread, class * CLASS
  local lowest, highest = bases_of(class)
  -- The weight of the base that comes first in the direction of the page.
  local nearest_weight = weight(sign, base > 0 and base or outward and lowest or highest)
  local to, is_exact = outward and CLASS - 1 or 0, lowest == highest
  if state.last_size then
    local first, last = time_bounds(nearest_weight, state.last_size)
    to, count = outward and math.min(last, to) or first, math.max(count, LATER_READ)
    if outward and time > to or not outward and time < to then return end
  end

  local flat = read_marks(sign, outward, mark + time, mark + to, ties, count)
  for i = 1, #flat, 2 do
    local posted = sign * flat[i + 1] - mark
    if is_exact then
      add_candidate(state, flat[i], nearest_weight / decay(posted))
    else
      local place = #unread.members + 1
      unread.members[place], unread.decays[place], unread.bases[place] = flat[i], decay(posted), base
    end
    time, ties = posted, posted == time and ties + 1 or 1
  end
  if #flat == 2 * count then state.runs[#state.runs + 1] = {class, base, time, ties, math.min(2 * count, MAX_READ)} end
  state.new = state.new + #flat / 2
  if state.new >= state.wanted and state.new >= MIN_NEW then sort_out(state) end
end

-- The first time, in the direction of the page, at which an article of a base may lie beyond the position.
local function first_time(state, base)
  if not state.edge then return state.outward and 0 or CLASS - 1 end
  local first, last = time_bounds(weight(state.sign, base), state.edge)
  return state.outward and first or math.min(last, CLASS - 1)
end

-- Begins the runs of a class: one, or one for each base if the votes decide for many articles (`unsure`). `young` and `old`
-- are the first times of its lowest and of its highest base: with a lower base, an article has to be younger to have the same
-- size.
local function begin_class(state, class)
  local lowest, highest = bases_of(class)
  local young, old, unsure = first_time(state, lowest), first_time(state, highest), 0
  if old < young then
    unsure = count_marks(state.sign, class * CLASS + old, class * CLASS + math.min(young, CLASS - 1))
  end
  if unsure <= MOST_UNSURE * (highest - lowest + 1) then
    return read_run(state, class, 0, state.outward and old or young, 0, FIRST_READ + unsure)
  end
  for base = lowest, highest do read_run(state, class, base, first_time(state, base), 0, FIRST_READ) end
end

-- Begins the runs of all classes, first of those that are likely to have the first positions, so that most others need few
-- reads or none.
local function begin_classes(state)
  local end_rank = state.sign > 0 and -1 or 0
  local furthest = redis.call("ZRANGE", index, end_rank, end_rank, "WITHSCORES")
  local last = furthest[2] and math.floor(state.sign * furthest[2] / CLASS) or 0
  local first = (state.edge or state.outward) and 1 or 2 * CLASSES_PER_DIGIT
  for class = first, last do begin_class(state, class) end
  for class = math.min(first - 1, last), 1, -1 do begin_class(state, class) end
end

local function read_runs(state, runs)
  state.runs = {}
  for _, run in ipairs(runs) do read_run(state, unpack(run)) end
  sort_out(state)
end

-- Finds `wanted` positions of a part, in any order, and the runs that are left to the next step. `known` are positions
-- found by an earlier step, and `resumed` its open runs. Positions beyond the size `last_size`, if given, are left out.
local function search(sign, beyond, wanted, known, resumed, last_size)
  local state = {
    sign = sign, beyond = beyond, wanted = wanted,
    outward = down ~= (sign > 0), -- the page goes away from 0
    edge = beyond and math.abs(beyond.value), -- size at the position
    members = {}, sizes = {}, is_known = {}, -- candidates, and those of earlier steps
    last_size = last_size, -- size of the last of the first `wanted` candidates
    unread = {members = {}, decays = {}, bases = {}}, -- articles whose votes are not read yet
    runs = {}, new = 0, -- open runs, and articles read since the candidates were sorted out
  }
  for i, position in ipairs(known) do
    state.members[i], state.sizes[i], state.is_known[position.member] = position.member, math.abs(position.value), true
  end
  sort_out(state)
  if resumed then
    read_runs(state, resumed)
  else
    begin_classes(state)
    sort_out(state)
  end
  while state.runs[1] and budget >= 0 do read_runs(state, state.runs) end

  local found = {}
  for i, member in ipairs(state.members) do found[i] = {member = member, value = sign * state.sizes[i]} end
  if #found > wanted then table.sort(found, comes_before) end
  for i = #found, wanted + 1, -1 do found[i] = nil end
  return found, state.runs
end

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
-- step stopped, and `known` what it found. Positions beyond the value `limit`, if it is given, may be left out. Returns
-- positions, and where this step stops if its budget is spent.
local function next_positions(beyond, count, resumed, known, limit) --> (positions, where it stopped | nil)
  local start, finish, positions = beyond and sign_of(beyond.value), limit and sign_of(limit), {}
  for _, sign in ipairs(down and {1, 0, -1} or {-1, 0, 1}) do
    local is_passed = start and (down and sign > start or not down and sign < start)
      or finish and (down and sign < finish or not down and sign > finish)
    if not is_passed and #positions < count then
      local edge, wanted, found, open = sign == start and beyond or nil, count - #positions, {}, {}
      for _, position in ipairs(known) do
        if sign_of(position.value) == sign then found[#found + 1] = position end
      end
      local is_done = resumed and (down and sign > resumed.part or not down and sign < resumed.part)
      if not is_done and sign == 0 then
        found = zeros(edge, wanted)
      elseif not is_done then
        found, open = search(sign, edge, wanted, found, resumed and resumed.part == sign and resumed.runs or nil,
          sign == finish and math.abs(limit) or nil)
      end
      for _, position in ipairs(found) do positions[#positions + 1] = position end
      if open[1] then return positions, {part = sign, runs = open} end
    end
  end
  return positions
end
