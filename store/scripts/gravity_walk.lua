-- Put after gravity.lua and before the scripts that read a listing by GRAVITY: the places next to a place.
local down -- whether to read on to lower places, or up: set by the script

local function ahead(one, other) if down then return above(one, other) end return above(other, one) end

-- The best so far of those beyond a place, if given, as many as are wanted.
local function collection(beyond, wanted)
  local best, seen = {}, {}

  -- Whether something as good as `worth` would come after all of them.
  function best.is_full(worth)
    local last = best[wanted]
    if not last then return false end
    if down then return worth < last.value end
    return worth > last.value
  end

  function best.keep(candidate)
    if seen[candidate.member] or beyond and not ahead(beyond, candidate) then return end
    seen[candidate.member] = true
    if best[wanted] and not ahead(candidate, best[wanted]) then return end
    local low, high = 1, #best + 1
    while low < high do
      local middle = math.floor((low + high) / 2)
      if ahead(best[middle], candidate) then low = middle + 1 else high = middle end
    end
    table.insert(best, low, candidate)
    best[wanted + 1] = nil
  end

  return best
end

-- The first hour of a walk: those before it hold nothing that is beyond. What is younger than the instant is of age 0.
local LAST = 2 ^ 20
local function start(sign, beyond, outward)
  if not beyond then return outward and 0 or LAST end
  local extreme = outward and largest(sign, 0) or {base = 1}
  local age = extreme and age_of(sign, extreme.base, beyond.value) or 0
  if outward then return math.max(math.floor((at - math.max(age, 0)) / HOUR) - 1, 0) end
  return age <= 0 and LAST or math.floor((at - age) / HOUR) + 1
end

-- Keep the best of a bucket.
local function look(hour, sign, beyond, outward, best)
  local least, most, offset, found = 1, MOST, 0, nil
  if beyond then
    local some, all = bases(sign, beyond, hour)
    if outward then least = some else most = all end
  end
  repeat
    found = stretch(sign, hour, least, most, not outward, offset)
    for _, each in ipairs(found) do
      if best.is_full(value(sign, each.base, outward and oldest(hour) or youngest(hour))) then return end
      best.keep(article(sign, each.member, each.base))
    end
    offset = offset + BATCH
  until #found < BATCH
end

-- The next of a part with votes, beyond a place if given. From the far end, buckets are walked back from the youngest,
-- and in a long walk the largest votes of the whole listing beside them, so that those of what is left are known; from
-- 0, forward from the oldest.
local SHORT = 24 -- buckets
local function walk(sign, beyond, wanted)
  local outward = down ~= (sign > 0)
  local best = collection(beyond, wanted)
  local walked, edge, rank, extreme = 0, outward and oldest or youngest, 0, outward and {base = 1} or largest(sign, 0)
  local hour = bucket(start(sign, beyond, outward), outward)
  while hour and extreme and not best.is_full(value(sign, extreme.base, edge(hour))) do
    look(hour, sign, beyond, outward, best)
    walked = walked + 1
    if not outward and walked > SHORT then
      best.keep(article(sign, extreme.member, extreme.base))
      rank = rank + 1
      extreme = largest(sign, rank)
    end
    hour = bucket(hour + (outward and 1 or -1), outward)
  end
  return best
end

-- The next of value 0, beyond a place if given.
local function even(beyond, wanted)
  local first = redis.call("ZCOUNT", by_votes, "(1", "+inf")
  local last, found = first + redis.call("ZCOUNT", by_votes, 1, 1), {}
  if down then
    if beyond then
      local is_there = redis.call("ZSCORE", by_votes, beyond.member) == "1" and 1 or 0
      first = first + even_above(beyond.member) + is_there
    end
    last = math.min(last, first + wanted)
  else
    if beyond then last = first + even_above(beyond.member) end
    first = math.max(first, last - wanted)
  end
  if first >= last then return found end
  for _, member in ipairs(redis.call("ZRANGE", by_votes, first, last - 1, "REV")) do
    table.insert(found, down and #found + 1 or 1, {member = member, value = 0})
  end
  return found
end

-- The next `count` places of a listing, the nearest first: from a position, which need not be taken, or from the end.
local function nearest(position, count)
  local side = position and (position.value > 0 and 1 or position.value < 0 and -1 or 0)
  local places = {}
  for _, sign in ipairs(down and {1, 0, -1} or {-1, 0, 1}) do
    local is_passed = side and (down and sign > side or not down and sign < side)
    if not is_passed and #places < count then
      local beyond, wanted = sign == side and position or nil, count - #places
      local found = sign == 0 and even(beyond, wanted) or sign ~= 0 and walk(sign, beyond, wanted) or {}
      for _, each in ipairs(found) do places[#places + 1] = each end
    end
  end
  return places
end
