-- Whether the database has the current counts of votes of archived articles and comments, which only the database has. It
-- has them once it has read the entries of the log that changed them. Whoever uses counts of the database gives a position:
-- the id of the entry up to which the database had read the log before the counts were read.
-- requires: prelude
-- KEY   keys of this partition (a share of the data) by kind
--       archived: how many articles are only in the SQL database, and their greatest values
--       recounted: archived articles and comments whose votes changed, until the database has that
--
-- `recounted` has the articles and comments whose counts the database may lack, by the time of the entry. They are removed
-- once the database is known to have their counts. Fields of `archived`: `recounted` is the latest position for which some
-- were removed, `last_recounted` the id of the last entry that changed counts.

local function parse_id(id)
  local time, place = string.match(id or "", "(%d+)-(%d+)")
  return tonumber(time or 0), tonumber(place or 0)
end

local function is_before(id, other)
  local time, place = parse_id(id)
  local other_time, other_place = parse_id(other)
  return time < other_time or time == other_time and place < other_place
end

-- Whether the database had the counts of an archived article or comment at a position. For an article, this includes the
-- counts of its comments.
local function has_counts(number, position)
  if position == "" or is_before(position, redis.call("HGET", KEY.archived, "recounted") or "") then return false end
  if not is_before(position, redis.call("HGET", KEY.archived, "last_recounted") or "") then return true end
  local changed = redis.call("ZSCORE", KEY.recounted, string.format("%016.0f", tonumber(number)))
  return not changed or tonumber(changed) < parse_id(position)
end

-- Takes the articles and comments whose counts the database had at a position out of `recounted`.
local function forget_recounted(position)
  local is_last = not is_before(position, redis.call("HGET", KEY.archived, "last_recounted") or "")
  local below = is_last and "+inf" or "(" .. string.format("%.0f", (parse_id(position)))
  if position == "" or redis.call("ZREMRANGEBYSCORE", KEY.recounted, "-inf", below) == 0 then return end
  if is_before(redis.call("HGET", KEY.archived, "recounted") or "", position) then
    redis.call("HSET", KEY.archived, "recounted", position)
  end
end

-- Notes that the counts of archived articles and comments, given as members, were changed with an entry. Whoever reads the
-- archive meanwhile reads again.
local function note_recounted(members, id)
  local time = string.format("%.0f", (parse_id(id)))
  for _, member in ipairs(members) do redis.call("ZADD", KEY.recounted, time, member) end
  redis.call("HSET", KEY.archived, "last_recounted", id)
  redis.call("HINCRBY", KEY.archived, "serial", 1)
end
