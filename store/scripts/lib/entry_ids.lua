-- The ids of entries of the log, as MILLISECONDS-NUMBER.

-- Whether an entry comes before another one.
local function is_before(id, other)
  local time, place = string.match(id, "(%d+)-(%d+)")
  local other_time, other_place = string.match(other, "(%d+)-(%d+)")
  if time ~= other_time then return tonumber(time) < tonumber(other_time) end
  return tonumber(place) < tonumber(other_place)
end
