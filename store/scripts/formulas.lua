-- The formulas of the orders, as in store/ranking/formulas.py, which names their sources. Times are unix milliseconds.
-- Precedes prelude.lua in scripts, and those that compare values. It takes no KEYS and no ARGV of its own.
local function hot(votes, time, seconds)
  local size = votes > 0 and math.log10(votes) or votes < 0 and -math.log10(-votes) or 0
  return math.floor((size + (time / 1000 - 1134028003) / seconds) * 1e7 + 0.5) / 1e7
end

local function best(up, votes, z)
  if votes == 0 then return 0 end
  local share = up / votes
  local middle = share + z * z / (2 * votes)
  local spread = z * math.sqrt(share * (1 - share) / votes + z * z / (4 * votes * votes))
  return (middle - spread) / (1 + z * z / votes)
end

local function controversial(up, down)
  if up == 0 or down == 0 then return 0 end
  return (up + down) ^ (math.min(up, down) / math.max(up, down))
end

