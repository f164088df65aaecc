-- One call's share of a page of a feed: the articles of some users of one partition, nearest to a position first.
-- KEYS  1 timeline:{p}: (a username in lower case is appended)
-- ARGV  1 "down" or "up": which way the page goes on   2 how many
--       3 value and 4 member of the position to go on from, or ""   5 value and 6 member above which all lies, or ""
--       then the usernames
-- Reply {1 if something stands at the position or on its other side, else 0; member, value, ...}
--
-- First the nearest few articles of every timeline. Then deeper, only into those that may hold more of what is near
-- enough to matter.
local down, count = ARGV[1] == "down", tonumber(ARGV[2])
local from, from_member = tonumber(ARGV[3]), ARGV[4]
local floor, floor_member = tonumber(ARGV[5]), ARGV[6]
local lowest, highest = floor or "-inf", "+inf"
local start, stop = from or (down and highest or lowest), down and lowest or highest

-- The ends of a range are part of it; of articles at the very end, the member decides.
local function is_ahead(value, member)
  if floor and value == floor and member <= floor_member then return false end
  if value ~= from then return true end
  if down then return member < from_member end
  return member > from_member
end

local function is_behind(value, member)
  if floor and value == floor and member <= floor_member then return false end
  return value ~= from or member == from_member or down == (member > from_member)
end

local function range(timeline, falling, first, last, offset, wanted)
  if falling then
    return redis.call(
      "ZRANGE", timeline, first, last, "BYSCORE", "REV", "LIMIT", offset, wanted, "WITHSCORES")
  end
  return redis.call("ZRANGE", timeline, first, last, "BYSCORE", "LIMIT", offset, wanted, "WITHSCORES")
end

local share = {}

-- Adds up to `wanted` or a few more of a timeline's next articles to the share.
local function read(timeline, wanted, limit)
  local added = 0
  repeat
    local batch = range(timeline.key, down, start, limit, timeline.read, wanted)
    for i = 1, #batch, 2 do
      local value, member = tonumber(batch[i + 1]), batch[i]
      timeline.last = value
      if is_ahead(value, member) then
        share[#share + 1] = {value, member, batch[i + 1]}
        added = added + 1
      end
    end
    timeline.read = timeline.read + #batch / 2
    timeline.goes_on = #batch == 2 * wanted
  until added >= wanted or not timeline.goes_on
end

local function has_behind(timeline)
  local offset, batch = 0, nil
  repeat
    batch = range(timeline.key, not down, from, down and highest or lowest, offset, 2)
    for i = 1, #batch, 2 do
      if is_behind(tonumber(batch[i + 1]), batch[i]) then return true end
    end
    offset = offset + 2
  until #batch < 4
  return false
end

local few = math.max(2, math.min(count, math.ceil(2 * count / (#ARGV - 6))))
local timelines, behind = {}, false
for i = 7, #ARGV do
  local timeline = {key = KEYS[1] .. string.lower(ARGV[i]), read = 0}
  timelines[#timelines + 1] = timeline
  read(timeline, few, stop)
  behind = behind or from and has_behind(timeline)
end

local values = {}
for i, article in ipairs(share) do values[i] = down and -article[1] or article[1] end
table.sort(values)
local limit = values[count] and (down and -values[count] or values[count])
for _, timeline in ipairs(timelines) do
  -- One that goes on has a last article that was read; one that has nothing ahead has none.
  local may_go_on = timeline.goes_on
    and (not limit or down and timeline.last >= limit or not down and timeline.last <= limit)
  if may_go_on then read(timeline, count, limit or stop) end
end

table.sort(share, function(one, other)
  if not down then one, other = other, one end
  return one[1] > other[1] or one[1] == other[1] and one[2] > other[2]
end)
local reply = {behind and 1 or 0}
for i = 1, math.min(count, #share) do
  reply[#reply + 1] = share[i][2]
  reply[#reply + 1] = share[i][3]
end
return reply
