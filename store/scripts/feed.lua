-- One call's share of a page of a feed: the articles of some users of one partition, nearest to a position first.
-- KEYS  1 timeline:{p}: (a username in lower case is appended)
-- ARGV  1 "down" or "up": which way the page goes on   2 how many
--       3 value and 4 member of the position to go on from, or ""   5 value and 6 member above which all lies, or ""
--       then the usernames
-- Reply {1 if something stands at the position or on its other side, else 0; member, value, ...}
--
-- First the head of each timeline, its nearest article beyond the position. Then deeper, only into the timelines whose
-- heads are near enough to matter.
local down, count = ARGV[1] == "down", tonumber(ARGV[2])
local from, floor = {value = tonumber(ARGV[3]), member = ARGV[4]}, {value = tonumber(ARGV[5]), member = ARGV[6]}

local function above(value, member, position)
  return value > position.value or value == position.value and member > position.member
end

local function ahead(value, member)
  if not from.value then return true end
  if down then return above(from.value, from.member, {value = value, member = member}) end
  return above(value, member, from)
end

-- Up to `wanted` articles of a timeline between two values, ahead of the position or not, in the order of the walk.
local function stretch(name, falling, start, stop, wanted, is_ahead)
  local timeline, found, offset, batch = KEYS[1] .. string.lower(name), {}, 0, nil
  repeat
    if falling then
      batch = redis.call(
        "ZRANGE", timeline, start, stop, "BYSCORE", "REV", "LIMIT", offset, wanted + 1, "WITHSCORES")
    else
      batch = redis.call("ZRANGE", timeline, start, stop, "BYSCORE", "LIMIT", offset, wanted + 1, "WITHSCORES")
    end
    for i = 1, #batch, 2 do
      local value, member = tonumber(batch[i + 1]), batch[i]
      local listed = not floor.value or above(value, member, floor)
      if #found < wanted and listed and ahead(value, member) == is_ahead then
        found[#found + 1] = {value = value, member = member, text = batch[i + 1]}
      end
    end
    offset = offset + wanted + 1
  until #found == wanted or #batch < 2 * (wanted + 1)
  return found
end

local lowest, highest = floor.value or "-inf", "+inf"
local start, stop = from.value or (down and highest or lowest), down and lowest or highest
local heads, values, behind = {}, {}, 0
for i = 7, #ARGV do
  local head = stretch(ARGV[i], down, start, stop, 1, true)[1]
  if head then
    heads[#heads + 1] = {name = ARGV[i], value = head.value}
    values[#values + 1] = down and -head.value or head.value
  end
  if behind == 0 and from.value then
    behind = #stretch(ARGV[i], not down, start, down and highest or lowest, 1, false)
  end
end

table.sort(values)
local limit = values[count] and (down and -values[count] or values[count])
local share = {}
for _, head in ipairs(heads) do
  if not limit or down and head.value >= limit or not down and head.value <= limit then
    for _, article in ipairs(stretch(head.name, down, start, limit or stop, count, true)) do
      share[#share + 1] = article
    end
  end
end
table.sort(share, function(one, other)
  if not down then one, other = other, one end
  return above(one.value, one.member, other)
end)

local reply = {behind}
for i = 1, math.min(count, #share) do
  reply[#reply + 1] = share[i].member
  reply[#reply + 1] = share[i].text
end
return reply
