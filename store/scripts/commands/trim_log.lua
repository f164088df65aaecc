-- Remove the oldest entries of a log that are old enough and that all consumers have taken. Entries that are too many, or
-- that may name a user who was deleted long ago, are removed whether they were taken or not.
-- flags: allow-oom
-- KEYS  of partition p: 1 log:{p}   2 consumers:{p}, the last entry that each has taken, and as `trimmed` the last removed one
--       3 logged:{p}, ids of entries with texts   4 deleted:{p}, what was deleted, by time
--       5 outdated:{p}, entries up to which the log may name a deleted user
-- ARGV  1 how long entries are kept at least (milliseconds)   2 how many entries are kept at most
--       3 how many entries to remove at most, as the script blocks the server
--       4 id of the last entry that may be removed, or ""
-- Reply {"trimmed", number of entries that were removed}
local last_removable = ARGV[4]
local TEXTS = { -- kinds of entries with texts, whose ids the hash `logged` has
  posted = true, imported = true, edited = true, commented = true, comment_imported = true, comment_edited = true,
  moderated = true, redacted = true, flagged = true, profile_edited = true,
}

-- Time and number of an id. Other programs write the positions of consumers: other text counts as the start of the log.
local function parse(id)
  local time, number = string.match(id, "^(%d+)-(%d+)$")
  return tonumber(time or 0), tonumber(number or 0)
end

local function is_after(id, other)
  local time, number = parse(id)
  local other_time, other_number = parse(other)
  return time > other_time or time == other_time and number > other_number
end

-- Removes the id of an entry that is trimmed from those that are noted in KEYS[3] for its article, comment or user.
local function remove_noted(id, subject)
  local field, kept = string.match(subject, "^user:") and subject or string.match(subject, ":(%d+)$"), {}
  for noted in string.gmatch(redis.call("HGET", KEYS[3], field) or "", "%S+") do
    if noted ~= id then kept[#kept + 1] = noted end
  end
  if kept[1] then
    redis.call("HSET", KEYS[3], field, table.concat(kept, " "))
  else
    redis.call("HDEL", KEYS[3], field)
  end
end

local slowest -- the entry that the slowest consumer has taken last
local positions = redis.call("HGETALL", KEYS[2])
for i = 1, #positions, 2 do
  local is_consumer = positions[i] ~= "trimmed"
  if is_consumer and (not slowest or is_after(slowest, positions[i + 1])) then slowest = positions[i + 1] end
end

local seconds, microseconds = unpack(redis.call("TIME"))
-- Entries after this id are kept for their age.
local oldest = string.format("%.0f-0", seconds * 1000 + math.floor(microseconds / 1000) - tonumber(ARGV[1]))
local length = redis.call("XLEN", KEYS[1])
local outdated = redis.call("ZRANGEBYSCORE", KEYS[5], "-inf", seconds * 1000) -- ids: entries up to them have to go now
local trimmed, removed -- the last entry to remove, and how many that are

-- Whether an entry may name a user who was deleted long ago.
local function is_outdated(id)
  for _, each in ipairs(outdated) do if not is_after(id, each) then return true end end
  return false
end

for i, entry in ipairs(redis.call("XRANGE", KEYS[1], "-", "+", "COUNT", ARGV[3])) do
  local id, fields = entry[1], entry[2]
  local is_needed = is_after(id, oldest) or slowest and is_after(id, slowest)
  if last_removable ~= "" and is_after(id, last_removable) then break end
  if is_needed and i > length - tonumber(ARGV[2]) and not is_outdated(id) then break end
  local kind, subject = fields[2], fields[8] -- of "kind", KIND, "at", AT, "actor", ACTOR, "subject", SUBJECT, ...
  if TEXTS[kind] then remove_noted(id, subject) end
  trimmed, removed = id, i
end
if not trimmed then return {"trimmed", 0} end

redis.call("XTRIM", KEYS[1], "MAXLEN", "=", length - removed)
redis.call("HSET", KEYS[2], "trimmed", trimmed)
redis.call("ZREMRANGEBYSCORE", KEYS[4], "-inf", "(" .. string.match(trimmed, "^%d+"))
for _, each in ipairs(outdated) do
  if not is_after(each, trimmed) then redis.call("ZREM", KEYS[5], each) end
end
return {"trimmed", removed}
