-- Functions that read a listing by VOTES, among the articles posted since an instant.
-- requires: gravity_classes, index_rank, slots
-- from gravity_classes: CLASSES_PER_DIGIT (classes of bases with the same number of binary digits, from class 8 on),
--   bases_of(class) -> (lowest, highest), CLASS (milliseconds between two classes)
-- from index_rank: rank_of(key, value, member, including) -> number of members above, or with `including` at or above it
-- from slots: SLOTS (how many slots there are, as in store/keys.py)
-- KEYS  1 index of GRAVITY   2 index of VOTES   3 index of TIME, all of the same listing
-- ARGV  1 the instant (unix milliseconds)   5 about how many articles and commands a step may take
--
-- The index of GRAVITY holds articles of similar votes, a class, together, by time: its values are marks, class * 2^42 +
-- posting time. So the articles of a class that were posted since an instant are one range. It is counted and passed over,
-- or read and sorted by votes.
-- Where it is long, the index of VOTES is read instead, value by value. There, articles of equal votes are sorted by number,
-- and the number is at least 2 * SLOTS * posting time (store/numbering.py), so older articles are passed over together.
-- Only the numbers that early versions gave, which are lower than all others, do not contain the time. A listing of
-- few articles is read by time and sorted.
--
-- A page is a table: `down` (its direction), `wanted` (how many articles it takes), `skip` (how many are still to be
-- passed over before these), `found` ({member, votes, ...}), and the position reached so far: `value` (votes) and
-- `member`.
--
-- A script that reads several listings sets `classes`, `by_votes` and `by_time` anew for each.
local classes = KEYS[1] -- the index of GRAVITY of the listing that is read
local by_votes = KEYS[2] -- the index of VOTES of the same listing
local by_time = KEYS[3] -- the index of TIME of the same listing
local since = tonumber(ARGV[1]) -- when the oldest articles that count were posted (unix milliseconds)
local budget = tonumber(ARGV[5]) -- articles and commands that this step may still take
local MAX_SORTED = 300 -- articles of a class that are read and sorted
local MAX_SORTED_AT_ONCE = 100 -- articles of a listing that are read by time and sorted, without the index of GRAVITY
local FIRST_CHUNK, MAX_CHUNK = 16, 256 -- articles that are read at once from the index of VOTES
local MIN_PASSED, MAX_COUNTED = 200, 40 -- least number of articles to pass over at once, most values to count for that
local END = "end" -- in place of a member: the position beyond all articles of a class
local COMMAND = 4 -- articles that could be read in the time that another command takes
local FIRST_SINCE = string.format("%016.0f", 2 * SLOTS * since) -- the lowest member that may be posted since the instant
local LAST_OLDER = string.format("%016.0f", math.max(2 * SLOTS * since - 1, 0)) -- the highest member that is surely older
local FIRST_BY_TIME = string.format("%016.0f", (2 ^ 37 + 1) * SLOTS) -- the lowest member that contains the time

-- Here classes ascend with votes: those of less than one vote are negative.
local function class_of(votes)
  local size, shifts = math.abs(votes - 1), 0
  while size >= 2 * CLASSES_PER_DIGIT do size, shifts = math.floor(size / 2), shifts + 1 end
  local class = CLASSES_PER_DIGIT * shifts + size
  return votes < 1 and -class or class
end

-- The lowest and the highest votes of a class.
local function votes_of(class)
  local lowest, highest = bases_of(math.abs(class))
  if class < 0 then return 1 - highest, 1 - lowest end
  return lowest + 1, highest + 1
end

-- The lowest and the highest mark of the articles of a class that were posted at or after an instant.
local function marks_of(class, since)
  if class < 0 then return class * CLASS - (CLASS - 1), class * CLASS - since end
  return class * CLASS + since, class * CLASS + CLASS - 1
end

-- The next class that may have articles since the instant, or without a class the first one; nil if there is none.
local function next_class(down, class)
  local lowest, highest = marks_of(class or 0, 0)
  local found
  if down then
    local from = class and string.format("(%.0f", lowest) or "+inf"
    found = redis.call("ZRANGE", classes, from, "-inf", "BYSCORE", "REV", "LIMIT", 0, 1, "WITHSCORES")
  else
    local from = class and string.format("(%.0f", highest) or "-inf"
    found = redis.call("ZRANGE", classes, from, "+inf", "BYSCORE", "LIMIT", 0, 1, "WITHSCORES")
  end
  budget = budget - COMMAND
  local mark = tonumber(found[2])
  if not mark then return nil end
  local next = mark < 0 and -math.floor(-mark / CLASS) or math.floor(mark / CLASS)
  local is_newest = (mark >= 0) == down -- of its class
  if is_newest and math.abs(mark) % CLASS < since then return next_class(down, next) end -- all of the class are older
  return next
end

local function is_full(page) return #page.found >= 2 * page.wanted end

-- Moves the page on to a position, and adds this to the page unless it is to be passed over.
local function take(page, value, member)
  page.value, page.member = value, member
  if page.skip > 0 then
    page.skip = page.skip - 1
  else
    page.found[#page.found + 1] = member
    page.found[#page.found + 1] = value
  end
end

local function is_beyond(page, value, member)
  if not page.value then return true end
  if value ~= page.value then return page.down == (value < page.value) end
  return member ~= page.member and page.member ~= END and page.down == (member < page.member)
end

local function has_position(page, class)
  local lowest, highest = votes_of(class)
  return page.value and page.value >= lowest and page.value <= highest
end

-- Calls `visit` with each element of a list in the direction of the page, until it returns true.
local function each(page, list, visit)
  local first, last, step = 1, #list, 1
  if page.down then first, last, step = #list, 1, -1 end
  for i = first, last, step do
    if visit(list[i], i) then return end
  end
end

-- Those of some articles that lie beyond the position: a list of their different values, and lists of members by value.
local function members_by_value(page, members)
  local votes, values, members_of = redis.call("ZMSCORE", by_votes, unpack(members)), {}, {}
  budget = budget - #members - 2 * COMMAND
  for i, member in ipairs(members) do
    local value = tonumber(votes[i] or "")
    if value and is_beyond(page, value, member) then
      if not members_of[value] then values[#values + 1], members_of[value] = value, {} end
      table.insert(members_of[value], member)
    end
  end
  return values, members_of
end

-- Reads a few articles, which are all of a class or of the listing.
local function read_sorted(page, members)
  local values, members_of = members_by_value(page, members)
  table.sort(values)
  each(page, values, function(value)
    local members = members_of[value]
    if #members <= page.skip then
      page.skip = page.skip - #members
      return false
    end
    table.sort(members)
    each(page, members, function(member)
      take(page, value, member)
      return is_full(page)
    end)
    return is_full(page)
  end)
end

-- Moves the page on from an article whose number says that it is older, beyond all such articles of equal votes.
-- Returns the rank in the index of VOTES at which the page goes on.
local function pass_older(page)
  page.member = page.down and FIRST_BY_TIME or LAST_OLDER
  budget = budget - 2 * COMMAND
  if page.down then
    local last = redis.call("ZCOUNT", by_votes, page.value, "+inf")
    if redis.call("ZRANGE", by_votes, last - 1, last - 1, "REV")[1] >= FIRST_BY_TIME then return last end
  end
  return rank_of(by_votes, page.value, page.member, page.down)
end

-- Reads articles of the index of VOTES from one rank up to another, the latter excluded. Stops at the first one whose
-- number says that it is older than the instant, and returns whether there is one.
local function read_ranks(page, from, to)
  local flat, members, values = redis.call("ZRANGE", by_votes, from, to - 1, "REV", "WITHSCORES"), {}, {}
  for i = #flat - 1, 1, -2 do
    members[#members + 1], values[#values + 1] = flat[i], tonumber(flat[i + 1])
  end
  local times, is_older = redis.call("ZMSCORE", by_time, unpack(members)), false
  budget = budget - #members - 2 * COMMAND
  each(page, members, function(member, i)
    if tonumber(times[i] or -1) >= since then
      take(page, values[i], member)
      return is_full(page)
    end
    page.value, page.member = values[i], member
    is_older = member < FIRST_SINCE and member >= FIRST_BY_TIME
    return is_older
  end)
  return is_older
end

-- Counts the articles of a class since the instant by their numbers. The class has the ranks from `first` to `last`, the
-- latter excluded. Returns {first, size} for each value: the rank of its first article, and how many were posted since.
-- nil if these are not `count` in all, as the class has, so that numbers do not tell which they are; or if there are many
-- values.
local function counts_by_number(first, last, count)
  local counts, sum = {}, 0
  while first < last do
    local value = redis.call("ZRANGE", by_votes, first, first, "REV", "WITHSCORES")[2]
    local next = redis.call("ZCOUNT", by_votes, value, "+inf")
    local lowest = redis.call("ZRANGE", by_votes, next - 1, next - 1, "REV")[1]
    if #counts == MAX_COUNTED or lowest < FIRST_BY_TIME then return nil end
    local size = rank_of(by_votes, value, FIRST_SINCE, true) - first
    counts[#counts + 1], sum, first = {first = first, size = size}, sum + size, next
  end
  return sum == count and counts or nil
end

-- Passes over a part of a class at once, if its articles can be counted. Returns the rank at which the page goes on.
local function pass_over(page, first, last, count)
  if page.skip < MIN_PASSED then return first end
  for _, value in ipairs(counts_by_number(first, last, count) or {}) do
    if value.size > page.skip then
      first, page.skip = value.first + page.skip, 0
      return first
    end
    page.skip = page.skip - value.size
  end
  return first
end

-- Reads a class of many articles since the instant, from value to value. Returns whether it is read to its end.
local function read_by_votes(page, class, count)
  local lowest, highest = votes_of(class)
  local first = redis.call("ZCOUNT", by_votes, string.format("(%.0f", highest), "+inf")
  local last, chunk = redis.call("ZCOUNT", by_votes, lowest, "+inf"), FIRST_CHUNK
  if has_position(page, class) then
    local rank = rank_of(by_votes, page.value, page.member, page.down)
    if page.down then first = math.max(first, rank) else last = math.min(last, rank) end
  else
    first = pass_over(page, first, last, count)
  end
  while first < last and not is_full(page) do
    local from, to = first, math.min(first + chunk, last)
    if not page.down then from, to = math.max(last - chunk, first), last end
    local is_older = read_ranks(page, from, to)
    local next = is_older and pass_older(page) or page.down and to or from
    if page.down then first = next else last = next end
    chunk = is_older and FIRST_CHUNK or math.min(2 * chunk, MAX_CHUNK)
    if budget <= 0 then break end
  end
  return first >= last
end

-- Reads a class, unless it is passed over. Returns whether it is read to its end.
local function read_class(page, class)
  local count = redis.call("ZCOUNT", classes, marks_of(class, since))
  budget = budget - COMMAND
  if count <= page.skip and not has_position(page, class) then
    page.skip = page.skip - count
  elseif count > MAX_SORTED then
    return read_by_votes(page, class, count)
  elseif count > 0 then
    local from, to = marks_of(class, since)
    read_sorted(page, redis.call("ZRANGE", classes, from, to, "BYSCORE"))
  end
  return true
end

-- The class in which the page goes on.
local function first_class(page)
  if not page.value then return next_class(page.down) end
  local class = class_of(page.down and math.floor(page.value) or math.ceil(page.value))
  if page.member == END then return next_class(page.down, class) end
  return class
end

-- Reads positions until the page is full, the listing ends, or the budget is spent. Returns true if it has stopped for the
-- budget.
local function read(page)
  local class = first_class(page)
  while class do
    local is_read = read_class(page, class)
    if is_full(page) then return false end
    if is_read then page.value, page.member = page.down and votes_of(class) or select(2, votes_of(class)), END end
    if budget <= 0 then return true end
    class = next_class(page.down, class)
  end
  return false
end
