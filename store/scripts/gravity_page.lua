-- One step of one partition's share of a page in the order GRAVITY: the places next to a position.
-- ARGV  6 "down" or "up": which way the page goes on   7 how many   8 value and 9 member of the position to go on
--       from, which need not be taken, or ""
--       then, where an earlier step stopped: 10 part (1, 0, -1)   11 the class to try next, or ""   12 how many classes
--       are open   mark to go on from and how many of that mark were looked at, of each of them
--       member and value of each place that was found
-- Reply {"more", part, class, how many, mark, how many, ..., member, value, ...}, to send as 10 and following
--       | {"whole", how many the listing has, whether it has any at the position or behind it (1 or 0), member, value,
--          ...}; the places in any order
local down, wanted = ARGV[6] == "down", tonumber(ARGV[7])
local position = ARGV[8] ~= "" and {value = tonumber(ARGV[8]), member = ARGV[9]}
local FEW, MANY = 3, 8 -- articles at a first look into a class, and at a second; at each one after it twice as many

local function ahead(one, other) if down then return above(one, other) end return above(other, one) end

-- The best so far of those beyond a place, if given, as many as are wanted: a heap, the one that all are ahead of first.
local function collection(beyond, most)
  local best, seen = {}, {}

  -- Whether something as good as `worth` would come after all of them.
  function best.is_full(worth)
    if not best[most] then return false end
    if down then return worth < best[1].value end
    return worth > best[1].value
  end

  local function rise(place, candidate)
    while place > 1 do
      local parent = math.floor(place / 2)
      if not ahead(best[parent], candidate) then break end
      best[place], place = best[parent], parent
    end
    best[place] = candidate
  end

  local function sink(candidate)
    local place = 1
    while 2 * place <= most do
      local child = 2 * place
      if child < most and ahead(best[child], best[child + 1]) then child = child + 1 end
      if not ahead(candidate, best[child]) then break end
      best[place], place = best[child], child
    end
    best[place] = candidate
  end

  function best.keep(member, value)
    local candidate = {member = member, value = value}
    if seen[member] or beyond and not ahead(beyond, candidate) then return end
    seen[member] = true
    if not best[most] then
      rise(#best + 1, candidate)
    elseif ahead(candidate, best[1]) then
      sink(candidate)
    end
  end

  return best
end

-- A walk through a part with votes, beyond a place if given: from the far end inward, or from 0 outward.
local function walk_of(sign, beyond, best)
  local outward = down ~= (sign > 0)
  local way, walk = outward and 1 or -1, {}

  function walk.first_class() return outward and 1 or LAST end

  -- Those that may have the best first, so that others need no look.
  function walk.sort(open)
    local worths = {}
    for _, each in ipairs(open) do
      local class = math.floor(each.mark / CLASS)
      local least, most = bases(class)
      worths[each] = sign * size(sign, outward and least or most, each.mark - class * CLASS)
    end
    table.sort(open, function(one, other)
      if down then return worths[one] > worths[other] end
      return worths[one] < worths[other]
    end)
    return worths
  end

  -- From which mark on to look into a class; nil where none of it is beyond.
  local function first_mark(class)
    local least, most = bases(class)
    local oldest, youngest = 0, CLASS - 1
    if beyond and outward then
      oldest = times(sign, most, math.abs(beyond.value))
    elseif beyond then
      youngest = math.min(select(2, times(sign, least, math.abs(beyond.value))), youngest)
    end
    return oldest <= youngest and class * CLASS + (outward and oldest or youngest)
  end

  -- Keep what is good of a class; whether all of it was, so that there may be more.
  local function keep(class, members, marks, count)
    local least, most = bases(class)
    local nearest, candidates, fadings = weight(sign, outward and least or most), {}, {}
    for i = 1, count do
      fadings[i] = fading(marks[i] - class * CLASS)
      if best.is_full(sign * nearest / fadings[i]) then break end
      candidates[i] = members[i]
    end
    for i, base in ipairs(bases_of(sign, class, candidates)) do
      best.keep(candidates[i], sign * (weight(sign, base) / fadings[i]))
    end
    return #candidates == count
  end

  local function mark_after(marks, count, mark, ties)
    for i = 1, count do mark, ties = marks[i], marks[i] == mark and ties + 1 or 1 end
    return {mark = mark, ties = ties}
  end

  -- Look into a class for the first time. Gives where it is open, if it is, and the next class to try, if there is one.
  function walk.try(class)
    local _, most = bases(class)
    if not outward and best.is_full(sign * size(sign, most, at)) then return nil, nil end
    local mark, following = first_mark(class), class + way
    if not mark then return nil, following >= 1 and following <= LAST and following end
    local members, marks = range(sign, mark, outward and LAST * CLASS + CLASS - 1 or CLASS, 0, FEW)
    local count = #members
    while count > 0 and math.floor(marks[count] / CLASS) ~= class do count = count - 1 end
    local is_open = keep(class, members, marks, count) and count == FEW and mark_after(marks, count, mark, 0)
    if count < FEW then following = marks[count + 1] and math.floor(marks[count + 1] / CLASS) end
    return is_open, following and following >= 1 and following <= LAST and following
  end

  -- Look into a class again. Gives where it is open, if it still is.
  function walk.again(open, most)
    local class = math.floor(open.mark / CLASS)
    local members, marks = range(sign, open.mark, outward and class * CLASS + CLASS - 1 or class * CLASS, open.ties, most)
    local has_more = keep(class, members, marks, #members) and #members == most
    return has_more and mark_after(marks, #members, open.mark, open.ties)
  end

  return walk
end

-- Keep the best of a part with votes: one look into each class, then again into those that are open, until nothing that
-- is left can matter. Gives what this step leaves to the next: the class to try and what is open.
local function search(sign, beyond, best, class, open)
  local walk = walk_of(sign, beyond, best)
  if not open then class, open = walk.first_class(), {} end
  while class do
    local is_open
    is_open, class = walk.try(class)
    if is_open then open[#open + 1] = is_open end
    if left < 0 and (class or open[1]) then return {part = sign, class = class, open = open} end
  end
  local most = MANY
  while open[1] do
    local rest, worths = {}, walk.sort(open)
    for _, each in ipairs(open) do
      if left < 0 then
        rest[#rest + 1] = each
      elseif not best.is_full(worths[each]) then
        rest[#rest + 1] = walk.again(each, most) or nil
      end
    end
    open, most = rest, math.min(most * 2, 128)
    if left < 0 and open[1] then return {part = sign, open = open} end
  end
end

-- Keep the next of value 0, beyond a place if given.
local function even(beyond, best, most)
  local first = redis.call("ZCOUNT", by_votes, "(1", "+inf")
  local last = first + redis.call("ZCOUNT", by_votes, 1, 1)
  if down then
    if beyond then
      local is_there = redis.call("ZSCORE", by_votes, beyond.member) == "1" and 1 or 0
      first = first + even_above(beyond.member) + is_there
    end
    last = math.min(last, first + most)
  else
    if beyond then last = first + even_above(beyond.member) end
    first = math.max(first, last - most)
  end
  if first >= last then return end
  local found = redis.call("ZRANGE", by_votes, first, last - 1, "REV")
  for _, member in ipairs(found) do best.keep(member, 0) end
  left = left - #found
end

local function sign_of(value) return value > 0 and 1 or value < 0 and -1 or 0 end

-- The next `count` places from a position, or from the end, those of an earlier step first; and where to go on.
local function nearest(beyond, count, from, known)
  local side, places = beyond and sign_of(beyond.value), {}
  for _, sign in ipairs(down and {1, 0, -1} or {-1, 0, 1}) do
    local is_passed = side and (down and sign > side or not down and sign < side)
    if not is_passed and #places < count then
      local here, most, stop = sign == side and beyond or nil, count - #places, nil
      local best = collection(here, most)
      for _, place in ipairs(known) do if sign_of(place.value) == sign then best.keep(place.member, place.value) end end
      local is_done = from and (down and sign > from.part or not down and sign < from.part)
      local is_under_way = from and from.part == sign
      if sign == 0 and not is_done then
        even(here, best, most)
      elseif not is_done then
        stop = search(sign, here, best, is_under_way and from.class, is_under_way and from.open)
      end
      for _, place in ipairs(best) do places[#places + 1] = place end
      if stop then return places, stop end
    end
  end
  return places
end

-- Whether anything is at the position or behind it, where the page comes from.
local function is_anything_behind()
  if not position then return 0 end
  local there = place_of(position.member)
  if there and not ahead(position, there) then return 1 end
  left = math.huge -- the very first of a listing is found at once
  local first = nearest(nil, 1, nil, {})[1]
  return first and not ahead(position, first) and 1 or 0
end

local resume, known = nil, {}
if ARGV[10] then
  resume = {part = tonumber(ARGV[10]), class = tonumber(ARGV[11]), open = {}}
  local first = 13 + 2 * ARGV[12]
  for i = 13, first - 1, 2 do
    resume.open[#resume.open + 1] = {mark = tonumber(ARGV[i]), ties = tonumber(ARGV[i + 1])}
  end
  for i = first, #ARGV, 2 do known[#known + 1] = {member = ARGV[i], value = tonumber(ARGV[i + 1])} end
end

local share, stop = nearest(position, wanted, resume, known)
local reply
if stop then
  reply = {"more", stop.part, stop.class or "", #stop.open}
  for _, each in ipairs(stop.open) do
    reply[#reply + 1] = string.format("%.0f", each.mark)
    reply[#reply + 1] = each.ties
  end
else
  reply = {"whole", redis.call("ZCARD", index), is_anything_behind()}
end
for _, place in ipairs(share) do
  reply[#reply + 1] = place.member
  reply[#reply + 1] = string.format("%.17g", place.value)
end
return reply
