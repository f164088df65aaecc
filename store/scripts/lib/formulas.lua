-- The formulas of the orders, as in store/ranking/formulas.py, which names their sources and constants. Times are unix
-- milliseconds.
local HOT_EPOCH = 1134028003 -- unix seconds

-- `seconds` is the age that ten times the votes make up for. Rounded to 7 decimals, as Reddit does.
local function hot(votes, time, seconds)
  local magnitude = votes > 0 and math.log10(votes) or votes < 0 and -math.log10(-votes) or 0
  return math.floor((magnitude + (time / 1000 - HOT_EPOCH) / seconds) * 1e7 + 0.5) / 1e7
end

-- The lower bound of the share of upvotes (Wilson). `votes` is the number of all votes, `z` the confidence in standard
-- deviations.
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

