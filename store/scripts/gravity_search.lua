-- Put between gravity_index.lua and gravity_page.lua: those of a part with votes that come next to a place, or first of all.
-- ARGV  6 "down" or "up": which way the page goes on
--
-- A part is read by runs. A run has the articles of a class in the order of their time, from where the first of them may
-- be beyond the place. Of those with the same votes each that follows comes later in the page, so a run ends where no
-- votes of its class are enough to be among the best. Where a class has many articles of which only the votes tell on
-- which side of the place they are, it has a run for each base, which passes over all others: so it is read only next to
-- where that base changes sides.
local down = ARGV[6] == "down"
local FEW, MANY, MOST = 3, 4, 128 -- articles at a first look, at one that ends where the best do, at any

local function ahead(one, other) if down then return above(one, other) end return above(other, one) end

-- Gives the places, as many as are wanted, in any order, and the runs that are left to the next step.
local function search(sign, beyond, wanted, known, stopped)
  local outward = down ~= (sign > 0)
  local edge = beyond and math.abs(beyond.value)
  local worst -- how far from 0 the last of the best is, once there are enough
  local members, sizes, seen = {}, {}, {} -- of the best so far
  local waiting, fadings, only_bases, runs, fresh = {}, {}, {}, {}, 0

  local function keep(member, size)
    if worst and (outward and size > worst or not outward and size < worst) or seen[member] then return end
    if edge then
      if outward and size < edge or not outward and size > edge then return end
      if size == edge and (down and member >= beyond.member or not down and member <= beyond.member) then return end
    end
    members[#members + 1], sizes[#sizes + 1] = member, size
  end

  -- Learn the votes of those that wait for it, and forget those that are not among the best.
  local function settle()
    fresh = 0
    if waiting[1] then
      local votes = redis.call("ZMSCORE", by_votes, unpack(waiting))
      for i = 1, #waiting do
        local base = sign * (votes[i] - 1)
        if only_bases[i] == 0 or only_bases[i] == base then keep(waiting[i], weight(sign, base) / fadings[i]) end
      end
      waiting, fadings, only_bases = {}, {}, {}
    end
    if #sizes < wanted then return end
    local sorted, count = {}, 0
    for i = 1, #sizes do sorted[i] = sizes[i] end
    table.sort(sorted)
    worst = sorted[outward and wanted or #sorted + 1 - wanted]
    for i = 1, #sizes do
      local size = sizes[i]
      if outward and size <= worst or not outward and size >= worst then
        count = count + 1
        members[count], sizes[count] = members[i], size
      end
    end
    for i = #sizes, count + 1, -1 do members[i], sizes[i] = nil, nil end
  end

  -- Look at what is next in a run, unless this step has looked at enough; keep the run if there may be more in it.
  local function look(class, only, time, ties, count)
    if time == CLASS then return end -- none of it is beyond
    local least, most = bases(class)
    local nearest, from = weight(sign, only > 0 and only or outward and least or most), class * CLASS
    local to, is_exact = outward and CLASS - 1 or 0, least == most
    if left < 0 then
      runs[#runs + 1] = {class, only, time, ties, count}
      return
    end
    if worst then
      local first, last = times(nearest, worst)
      to, count = outward and math.min(last, to) or first, math.max(count, MANY)
      if outward and time > to or not outward and time < to then return end
    end
    local flat = range(sign, outward, from + time, from + to, ties, count)
    for i = 1, #flat, 2 do
      local posted = sign * flat[i + 1] - from
      local faded = fading(posted)
      if is_exact then
        keep(flat[i], nearest / faded)
      else
        local place = #waiting + 1
        waiting[place], fadings[place], only_bases[place] = flat[i], faded, only
      end
      time, ties = posted, posted == time and ties + 1 or 1
    end
    fresh = fresh + #flat / 2
    if #flat == 2 * count then runs[#runs + 1] = {class, only, time, ties, math.min(2 * count, MOST)} end
    if fresh >= wanted and fresh >= 16 then settle() end
  end

  -- The time from which on those of a base may be beyond.
  local function start(base)
    if not edge then return outward and 0 or CLASS - 1 end
    local first, last = times(weight(sign, base), edge)
    return outward and first or math.min(last, CLASS - 1)
  end

  -- Look into a class for the first time.
  local function begin(class)
    local least, most = bases(class)
    local young, old, unsure, from = start(least), start(most), 0, class * CLASS
    if old < young then unsure = number_between(sign, from + old, from + math.min(young, CLASS - 1)) end
    if unsure <= 5 * (most - least + 1) then return look(class, 0, outward and old or young, 0, FEW + unsure) end
    for base = least, most do look(class, base, start(base), 0, FEW) end
  end

  -- All classes, from where the best are soon known: then most others need to be read a little, or not at all.
  local function begin_all()
    local furthest = redis.call("ZRANGE", index, sign > 0 and -1 or 0, sign > 0 and -1 or 0, "WITHSCORES")
    local last = furthest[2] and math.floor(sign * furthest[2] / CLASS) or 0
    local first = (edge or outward) and 1 or 2 * ALIKE
    for class = first, last do begin(class) end
    for class = math.min(first - 1, last), 1, -1 do begin(class) end
  end

  for i, place in ipairs(known) do
    members[i], sizes[i], seen[place.member] = place.member, math.abs(place.value), true
  end
  settle()
  if stopped then
    for _, run in ipairs(stopped) do look(unpack(run)) end
  else
    begin_all()
  end
  settle()
  while runs[1] and left >= 0 do
    local open = runs
    runs = {}
    for _, run in ipairs(open) do look(unpack(run)) end
    settle()
  end
  local found = {}
  for i, member in ipairs(members) do found[i] = {member = member, value = sign * sizes[i]} end
  if #found > wanted then table.sort(found, ahead) end
  for i = #found, wanted + 1, -1 do found[i] = nil end
  return found, runs
end
