-- Read the part of a page of a feed (the articles of those whom a user follows, by time) that comes from some users of
-- one partition: their articles nearest to a position.
-- KEYS  1 timeline:{p}: (a username in lower case is appended)
-- ARGV  1 "down" or "up": direction of the page   2 how many articles   3 value and 4 member of the position, or ""
--       5 value and 6 member of the floor, above which all articles of the page lie, or ""   then usernames
-- Reply {1 if an article is at the position or behind it, else 0; member, value, ...}, nearest first
--
-- It reads a few articles of each timeline, and then more of those that may still have an article near enough.
local down, count = ARGV[1] == "down", tonumber(ARGV[2])
local from, from_member = tonumber(ARGV[3]), ARGV[4]
local floor, floor_member = tonumber(ARGV[5]), ARGV[6]
local lowest, highest = floor or "-inf", "+inf"
local start, stop = from or (down and highest or lowest), down and lowest or highest

-- Ranges are of values, and include their ends: of the articles with the value of an end, members decide.
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

local function read_range(timeline, descending, first, last, offset, wanted)
  if descending then
    return redis.call(
      "ZRANGE", timeline, first, last, "BYSCORE", "REV", "LIMIT", offset, wanted, "WITHSCORES")
  end
  return redis.call("ZRANGE", timeline, first, last, "BYSCORE", "LIMIT", offset, wanted, "WITHSCORES")
end

local articles = {} -- {value, member, value as text} each, of all timelines

-- Adds the next articles of a timeline to `articles`: at least `wanted`, if it has as many up to `limit`.
local function read_more(timeline, wanted, limit)
  local added = 0
  repeat
    local batch = read_range(timeline.key, down, start, limit, timeline.read, wanted)
    for i = 1, #batch, 2 do
      local value, member = tonumber(batch[i + 1]), batch[i]
      timeline.last = value
      if is_ahead(value, member) then
        articles[#articles + 1] = {value, member, batch[i + 1]}
        added = added + 1
      end
    end
    timeline.read = timeline.read + #batch / 2
    timeline.has_more = #batch == 2 * wanted
  until added >= wanted or not timeline.has_more
end

-- Whether a timeline has an article at the position or behind it.
local function has_behind(timeline)
  local offset, batch = 0, nil
  repeat
    batch = read_range(timeline.key, not down, from, down and highest or lowest, offset, 2)
    for i = 1, #batch, 2 do
      if is_behind(tonumber(batch[i + 1]), batch[i]) then return true end
    end
    offset = offset + 2
  until #batch < 4
  return false
end

-- Of each timeline at first: twice its share of the page, as some have more of it than others.
local initial = math.max(2, math.min(count, math.ceil(2 * count / (#ARGV - 6))))
local timelines, behind = {}, false
for i = 7, #ARGV do
  local timeline = {key = KEYS[1] .. string.lower(ARGV[i]), read = 0}
  timelines[#timelines + 1] = timeline
  read_more(timeline, initial, stop)
  behind = behind or from and has_behind(timeline)
end

-- The value of the last place of the page, if it is full already: nothing beyond it is needed.
local values = {}
for i, article in ipairs(articles) do values[i] = down and -article[1] or article[1] end
table.sort(values)
local limit = values[count] and (down and -values[count] or values[count])
for _, timeline in ipairs(timelines) do
  -- A timeline without articles ahead has no `last`; it has no more either, which is checked first.
  local may_matter = timeline.has_more
    and (not limit or down and timeline.last >= limit or not down and timeline.last <= limit)
  if may_matter then read_more(timeline, count, limit or stop) end
end

table.sort(articles, function(one, other)
  if not down then one, other = other, one end
  return one[1] > other[1] or one[1] == other[1] and one[2] > other[2]
end)
local reply = {behind and 1 or 0}
for i = 1, math.min(count, #articles) do
  reply[#reply + 1] = articles[i][2]
  reply[#reply + 1] = articles[i][3]
end
return reply
