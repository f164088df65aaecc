-- Verify that every member of a sorted set belongs there, some of them in one step.
-- ARGV  8 what its key ends with, or ""   9 the kind of its key   10 cursor to go on from
local kind, COUNT = ARGV[9], 500
local PREFIXES = {good = GOOD, groups = GROUPS, posters = POSTERS, group = GROUP, coming = COMING, timeline = TIMELINE}
local index, group = (INDEX[kind] or PREFIXES[kind]) .. name, string.match(name, "^[^:]*")

local function has(list, wanted)
  for _, each in ipairs(list) do if each == wanted then return true end end
  return false
end

-- What the hash of an article does not tell, its places do: they may help whoever mends it by hand.
local function belongs(member)
  if kind == "groups" then return redis.call("EXISTS", GROUP .. member .. ":time") == 1 end
  if kind == "posters" then return redis.call("HGET", USER .. string.lower(member), "name") == member end
  local number = tonumber(member)
  if not number or string.format("%016.0f", number) ~= member then return false end
  local hash = ARTICLE .. string.format("%.0f", number)
  if redis.call("EXISTS", hash) == 0 then return false end
  if kind == "timeline" then return string.lower(redis.call("HGET", hash, "poster") or name) == name end
  if kind == "coming" and redis.call("HEXISTS", RANKING, "next:" .. group) == 0 then return false end
  return kind ~= "group" and kind ~= "coming" or has(split(redis.call("HGET", hash, "groups") or group), group)
end

local cursor, found = unpack(redis.call("ZSCAN", index, ARGV[10], "COUNT", COUNT))
for i = 1, #found, 2 do
  if not belongs(found[i]) then expect_place(index, found[i], nil) end
end
reply[1] = cursor
return reply
