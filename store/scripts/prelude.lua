-- Put before every script that writes articles: names for the keys of one partition, who acts, and what each index holds.
-- KEYS  the partition's home, in the order of keys.home: prefixes that a number, username or group name is appended to,
--       then whole keys, then one index per order, then what closes the partition, the
--       channel, last the numbers of stories
-- ARGV  1 username of who acts, or ""   2 digest of their session, or ""   3 now (unix milliseconds)
--       4 the site's weights, space between: vote_score, hot_seconds, best_z   5 votes of a good article   6 voting window (milliseconds)
local ARTICLE, VOTED, DOWNVOTED, USER, TIMELINE, GROUP = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local GROUPS, GOOD, SEQUENCE, SESSION, POSTED, IMPORTED = KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12]
local POSTERS, RANKING, COMING = KEYS[13], KEYS[14], KEYS[15]
local INDEX = {
  score = KEYS[16], time = KEYS[17], votes = KEYS[18], hot = KEYS[19], best = KEYS[20], controversial = KEYS[21],
  gravity = KEYS[22],
}
local CLOSED, EVENTS, NUMBERED = KEYS[23], KEYS[24], KEYS[25]

local now, good_votes, window = tonumber(ARGV[3]), tonumber(ARGV[5]), tonumber(ARGV[6])

local function words(text)
  local list = {}
  for word in string.gmatch(text, "%S+") do list[#list + 1] = word end
  return list
end

-- Ends a script where the partition takes no writes.
local function check_open()
  if redis.call("EXISTS", CLOSED) == 1 then error({err = "CLOSED to writes"}) end
end

-- Who acts: named by the caller, or whose session it is; false once that has ended. Nobody acts where all is closed.
local function actor()
  check_open()
  if ARGV[1] ~= "" then return ARGV[1] end
  local name, ends = string.match(redis.call("GET", SESSION .. ARGV[2]) or "", "^(%S+) (%d+)$")
  return name and now <= tonumber(ends) and name
end

-- An article as the scripts need it, with all its fields and values in turn; nil when there is none.
local function find(number)
  local stored = redis.call("HGETALL", ARTICLE .. number)
  if not stored[1] then return nil end
  local article = {number = number, member = string.rep("0", 16 - #number) .. number, stored = stored}
  for i = 1, #stored, 2 do article[stored[i]] = stored[i + 1] end
  article.time, article.up, article.down = tonumber(article.time), tonumber(article.up), tonumber(article.down)
  article.groups = article.groups ~= "" and words(article.groups) or {}
  return article
end

-- What each index holds for an article, by the weights. store/ranking/formulas.py has the same formulas, with their sources.
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

-- The class of those with alike votes, and the time inside it: gravity_index.lua ranks by votes and age from these.
local function gravity(votes, time)
  local size, behind = math.abs(votes - 1), 0
  while size >= 8 do size, behind = math.floor(size / 2), behind + 1 end
  local mark = (4 * behind + size) * 2 ^ 42 + time
  return votes < 1 and -mark or mark
end

local function value(article, order, weights)
  local up, down = article.up, article.down
  if order == "votes" then return up - down end
  if order == "score" then return article.time + weights.vote_score * 1000 * (up - down) end
  if order == "hot" then return hot(up - down, article.time, weights.hot_seconds) end
  if order == "best" then return best(up, up + down, weights.best_z) end
  if order == "gravity" then return gravity(up - down, article.time) end
  if order == "controversial" then return controversial(up, down) end
  return article.time
end

local vote_score, hot_seconds, best_z = string.match(ARGV[4], "(%S+) (%S+) (%S+)")
local SITE = {vote_score = tonumber(vote_score), hot_seconds = tonumber(hot_seconds), best_z = tonumber(best_z)}

-- How to rank in some groups: the orders that are kept, all unless told, and the weights of those that have their own.
-- A group that is being rebuilt has new ones too, by which some of its indexes are written a second time beside these.
local ORDERS = {"score", "time", "votes", "hot", "best", "controversial", "gravity"}
local WEIGHED = {score = "vote_score", hot = "hot_seconds", best = "best_z"}

local function weights_of(text)
  local weights = setmetatable({}, {__index = SITE})
  for name, number in string.gmatch(text, "([%l_]+)=(%S+)") do weights[name] = tonumber(number) end
  return weights
end

local function rules_of(groups)
  local rules = {orders = ORDERS, own = {}, coming = {}}
  if redis.call("HLEN", RANKING) == 0 then return rules end
  local fields = {"ORDERS"}
  for _, group in ipairs(groups) do
    fields[#fields + 1] = group
    fields[#fields + 1] = "next:" .. group
  end
  local found = redis.call("HMGET", RANKING, unpack(fields))
  if found[1] then rules.orders = words(found[1]) end
  for i, group in ipairs(groups) do
    if found[2 * i] then rules.own[group] = weights_of(found[2 * i]) end
    if found[2 * i + 1] then rules.coming[group] = weights_of(found[2 * i + 1]) end
  end
  return rules
end

local function put_in_group(article, order, group, rules, place)
  local own, coming = rules.own[group], rules.coming[group]
  place = own and value(article, order, own) or place
  redis.call("ZADD", GROUP .. group .. ":" .. order, place, article.member)
  if coming and WEIGHED[order] then
    redis.call("ZADD", COMING .. group .. ":" .. order, value(article, order, coming), article.member)
  end
end

-- Sets an article's place in an order of the site and of its groups.
local function put(article, order, rules)
  local place = value(article, order, SITE)
  redis.call("ZADD", INDEX[order], place, article.member)
  for _, group in ipairs(article.groups) do put_in_group(article, order, group, rules, place) end
end

-- Sets an article's place in the orders that are kept: where it moves, if it is known how it was.
local function rank(article, was)
  local rules = rules_of(article.groups)
  for _, order in ipairs(rules.orders) do
    local may_stay = order == "controversial" or order == "gravity"
    if not was or order ~= "time" and not (may_stay and value(article, order) == value(was, order)) then
      put(article, order, rules)
    end
  end
  local is_good = article.up - article.down >= good_votes
  if was and is_good == (was.up - was.down >= good_votes) then return end
  if is_good then
    redis.call("ZADD", GOOD, article.time, article.member)
  else
    redis.call("ZREM", GOOD, article.member)
  end
end

local function credit(article, votes)
  redis.call("HINCRBY", USER .. string.lower(article.poster), "karma", votes)
end

-- The sets live as long as voting is open, and a minute more for votes on their way.
local GRACE = 60000
local function expire(set, article)
  redis.call("PEXPIRE", set .. article.number, article.time + window - now + GRACE)
end

-- Tells all processes what changed, and the listings of which groups it concerns.
local function tell(kind, article, groups)
  redis.call("PUBLISH", EVENTS, table.concat({kind, article.number, article.poster, unpack(groups)}, " "))
end

local function stored(number)
  return redis.call("HGETALL", ARTICLE .. number)
end
