-- One call's share of a page of a feed: the articles of some users of one partition, newest first, beyond a position.
-- KEYS  1 posters:{p}   2 timeline:{p}: (a username in lower case is appended)
-- ARGV  1 "down" or "up": which way the page goes on   2 how many
--       3 value and 4 member of the position to go on from, or ""   5 value and 6 member above which all lies, or ""
--       then the usernames
-- Reply {1 if something stands at the position or on its other side, else 0; member, value, ...}
--
-- First the head of each timeline, its nearest article beyond the position; mostly the poster's newest, which one ZMSCORE
-- tells for all. Then deeper, only into the timelines whose heads are near enough to matter.
local POSTERS, TIMELINE = KEYS[1], KEYS[2]
local down, count = ARGV[1] == "down", tonumber(ARGV[2])
local from, floor = {value = tonumber(ARGV[3]), member = ARGV[4]}, {value = tonumber(ARGV[5]), member = ARGV[6]}
local names = {unpack(ARGV, 7)}

local function above(value, member, position)
  return value > position.value or value == position.value and member > position.member
end

local function listed(value, member)
  return not floor.value or above(value, member, floor)
end

local function ahead(value, member)
  if not from.value then return true end
  if down then return above(from.value, from.member, {value = value, member = member}) end
  return above(value, member, from)
end

-- Up to `wanted` articles of a timeline between two values that `fits` takes, in the order of the walk.
local function stretch(name, falling, start, stop, wanted, fits)
  local found, offset = {}, 0
  repeat
    local range = {"ZRANGE", TIMELINE .. string.lower(name), start, stop, "BYSCORE", "LIMIT", offset, wanted + 1, "WITHSCORES"}
    if falling then table.insert(range, 6, "REV") end
    local batch = redis.call(unpack(range))
    for i = 1, #batch, 2 do
      local value = tonumber(batch[i + 1])
      if #found < wanted and listed(value, batch[i]) and fits(value, batch[i]) then
        found[#found + 1] = {value = value, member = batch[i], text = batch[i + 1]}
      end
    end
    offset = offset + wanted + 1
  until #found == wanted or #batch < 2 * (wanted + 1)
  return found
end

local lowest, highest = floor.value or "-inf", "+inf"
local start, stop = from.value or (down and highest or lowest), down and lowest or highest
local function beyond(name, wanted, limit)
  return stretch(name, down, start, limit or stop, wanted, ahead)
end

local function behind(name)
  local function fits(value, member) return not ahead(value, member) end
  return #stretch(name, not down, start, down and highest or lowest, 1, fits) > 0
end

local heads, values, something_behind = {}, {}, 0
local newest = #names > 0 and redis.call("ZMSCORE", POSTERS, unpack(names)) or {}
for i, name in ipairs(names) do
  local last = newest[i] and tonumber(newest[i])
  if last and not (floor.value and last < floor.value) then
    local passed = from.value and last >= from.value
    local head = last
    if down and passed or not down and (passed or not from.value) then
      local article = beyond(name, 1)[1]
      head = article and article.value
    elseif not down then
      head = nil
    end
    if something_behind == 0 and from.value and (passed or not down) and behind(name) then something_behind = 1 end
    if head then
      heads[#heads + 1] = {name = name, value = head}
      values[#values + 1] = down and -head or head
    end
  end
end

table.sort(values)
local limit = values[count] and (down and -values[count] or values[count])
local share = {}
for _, head in ipairs(heads) do
  if not limit or down and head.value >= limit or not down and head.value <= limit then
    for _, article in ipairs(beyond(head.name, count, limit)) do share[#share + 1] = article end
  end
end
table.sort(share, function(one, other)
  if not down then one, other = other, one end
  return above(one.value, one.member, other)
end)

local reply = {something_behind}
for i = 1, math.min(count, #share) do
  reply[#reply + 1] = share[i].member
  reply[#reply + 1] = share[i].text
end
return reply
