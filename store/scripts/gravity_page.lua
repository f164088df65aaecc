-- One step of one partition's share of a page in the order GRAVITY: the places next to a position.
-- ARGV  6 "down" or "up": which way the page goes on   7 how many   8 value and 9 member of the position to go on
--       from, which need not be taken, or ""
--       then, where an earlier step stopped: 10 part (1, 0, -1)   11 how many runs are left   mark to go on from, how many
--       of that mark were looked at and the only base that counts, or 0, of each of them
--       member and value of each place that was found
-- Reply {"more", part, how many, mark, how many, base, ..., member, value, ...}, to send as 10 and following
--       | {"whole", how many the listing has, whether it has any at the position or behind it (1 or 0), member, value,
--          ...}; the places in any order
local wanted = tonumber(ARGV[7])
local position = ARGV[8] ~= "" and {value = tonumber(ARGV[8]), member = ARGV[9]}

-- The next of value 0, beyond a place if given.
local function even(beyond, most)
  local first, found = redis.call("ZCOUNT", by_votes, "(1", "+inf"), {}
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
  if first >= last then return found end
  for i, member in ipairs(redis.call("ZRANGE", by_votes, first, last - 1, "REV")) do
    found[i] = {member = member, value = 0}
  end
  left = left - #found
  return found
end

local function sign_of(value) return value > 0 and 1 or value < 0 and -1 or 0 end

-- The next `count` places from a position, or from the end, those of an earlier step first; and where to go on.
local function nearest(beyond, count, from, known)
  local side, places = beyond and sign_of(beyond.value), {}
  for _, sign in ipairs(down and {1, 0, -1} or {-1, 0, 1}) do
    local is_passed = side and (down and sign > side or not down and sign < side)
    if not is_passed and #places < count then
      local here, most, found, rest = sign == side and beyond or nil, count - #places, {}, {}
      for _, place in ipairs(known) do if sign_of(place.value) == sign then found[#found + 1] = place end end
      local is_done = from and (down and sign > from.part or not down and sign < from.part)
      if not is_done and sign == 0 then
        found = even(here, most)
      elseif not is_done then
        found, rest = search(sign, here, most, found, from and from.part == sign and from.runs or nil)
      end
      for _, place in ipairs(found) do places[#places + 1] = place end
      if rest[1] then return places, {part = sign, runs = rest} end
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
  resume = {part = tonumber(ARGV[10]), runs = {}}
  local first = 12 + 3 * ARGV[11]
  for i = 12, first - 1, 3 do
    local mark, ties, only = tonumber(ARGV[i]), tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
    local class = math.floor(mark / CLASS)
    resume.runs[#resume.runs + 1] = {class, only, mark - class * CLASS, ties, MANY}
  end
  for i = first, #ARGV, 2 do known[#known + 1] = {member = ARGV[i], value = tonumber(ARGV[i + 1])} end
end

local share, stop = nearest(position, wanted, resume, known)
local reply
if stop then
  reply = {"more", stop.part, #stop.runs}
  for _, run in ipairs(stop.runs) do
    local class, only, time, ties = unpack(run)
    reply[#reply + 1] = string.format("%.0f", class * CLASS + time)
    reply[#reply + 1] = ties
    reply[#reply + 1] = only
  end
else
  reply = {"whole", redis.call("ZCARD", index), is_anything_behind()}
end
for _, place in ipairs(share) do
  reply[#reply + 1] = place.member
  reply[#reply + 1] = string.format("%.17g", place.value)
end
return reply
