-- Put before every script that writes articles: names for the keys of one partition, and what the scripts share.
-- KEYS  the partition's home, in the order of keys.home: prefixes that a number, username or group name is appended to,
--       then whole keys, then one index per order, last the channel
-- ARGV  1 username of who acts, or ""   2 digest of their session, or ""   3 now (unix milliseconds)
--       4 milliseconds a vote is worth   5 votes of a good article   6 voting window (milliseconds)
local ARTICLE, VOTED, DOWNVOTED, USER, TIMELINE, GROUP = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local GROUPS, GOOD, SEQUENCE, SESSION, POSTED, IMPORTED = KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12]
local POSTERS = KEYS[13]
local INDEX = {
  score = KEYS[14], time = KEYS[15], votes = KEYS[16], hot = KEYS[17], best = KEYS[18], controversial = KEYS[19],
  gravity = KEYS[20],
}
local EVENTS = KEYS[#KEYS]
local STILL = {"time"} -- orders that a vote does not move
local MOVING = {"score", "votes", "hot", "best", "controversial", "gravity"}

local now, per_vote = tonumber(ARGV[3]), tonumber(ARGV[4])
local good_votes, window = tonumber(ARGV[5]), tonumber(ARGV[6])

local function words(text)
  local list = {}
  for word in string.gmatch(text, "%S+") do list[#list + 1] = word end
  return list
end

-- Who acts: named by the caller, or whose session it is; false once that has ended.
local function actor()
  if ARGV[1] ~= "" then return ARGV[1] end
  local session = words(redis.call("GET", SESSION .. ARGV[2]) or "")
  return session[1] and now <= tonumber(session[2]) and session[1]
end

-- An article as the scripts need it; nil when there is none.
local function find(number)
  local stored = redis.call("HMGET", ARTICLE .. number, "poster", "time", "up", "down", "groups")
  if not stored[1] then return nil end
  return {
    number = number, member = string.format("%016.0f", tonumber(number)),
    poster = stored[1], time = tonumber(stored[2]), up = tonumber(stored[3]), down = tonumber(stored[4]),
    groups = words(stored[5]),
  }
end

-- What each index holds for an article. store/ranking.py has the same formulas, with their sources.
local VALUE = {}

function VALUE.time(article) return article.time end

function VALUE.votes(article) return article.up - article.down end

function VALUE.score(article) return article.time + per_vote * (article.up - article.down) end

function VALUE.hot(article)
  local votes = article.up - article.down
  local sign = votes > 0 and 1 or votes < 0 and -1 or 0
  local size = sign * math.log10(math.max(math.abs(votes), 1))
  return math.floor((size + (article.time / 1000 - 1134028003) / 45000) * 1e7 + 0.5) / 1e7
end

function VALUE.best(article)
  local votes, z = article.up + article.down, 1.281551565545
  if votes == 0 then return 0 end
  local share = article.up / votes
  local middle = share + z * z / (2 * votes)
  local spread = z * math.sqrt(share * (1 - share) / votes + z * z / (4 * votes * votes))
  return (middle - spread) / (1 + z * z / votes)
end

function VALUE.controversial(article)
  if article.up == 0 or article.down == 0 then return 0 end
  return (article.up + article.down) ^ (math.min(article.up, article.down) / math.max(article.up, article.down))
end

-- The class of those with alike votes, and the time inside it: gravity.lua ranks by votes and age from these.
function VALUE.gravity(article)
  local votes = article.up - article.down - 1
  local size, behind = math.abs(votes), 0
  while size >= 8 do size, behind = math.floor(size / 2), behind + 1 end
  local mark = (4 * behind + size) * 2 ^ 42 + article.time
  return votes < 0 and -mark or mark
end

local function value(article, order) return VALUE[order](article) end

-- Sets an article's place in the given orders of the site and of its groups: where it moves, if it is known how it was.
local function rank(article, orders, was)
  for _, order in ipairs(orders) do
    local place = value(article, order)
    if not was or place ~= value(was, order) then
      redis.call("ZADD", INDEX[order], place, article.member)
      for _, group in ipairs(article.groups) do
        redis.call("ZADD", GROUP .. group .. ":" .. order, place, article.member)
      end
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

local function join(article, group)
  for order in pairs(INDEX) do
    redis.call("ZADD", GROUP .. group .. ":" .. order, value(article, order), article.member)
  end
  redis.call("ZADD", GROUPS, 0, group)
end

local function leave(article, group)
  for order in pairs(INDEX) do redis.call("ZREM", GROUP .. group .. ":" .. order, article.member) end
  if redis.call("EXISTS", GROUP .. group .. ":time") == 0 then redis.call("ZREM", GROUPS, group) end
end

local function credit(article, votes)
  redis.call("HINCRBY", USER .. string.lower(article.poster), "karma", votes)
end

-- Gives a new article its places: in every index, its groups, the poster's timeline.
local function list(article)
  rank(article, STILL)
  rank(article, MOVING)
  for _, group in ipairs(article.groups) do redis.call("ZADD", GROUPS, 0, group) end
  redis.call("ZADD", TIMELINE .. string.lower(article.poster), article.time, article.member)
  redis.call("ZADD", POSTERS, "GT", article.time, article.poster)
end

-- Writes a new article with its hash and its places.
local function publish(article, title, link, content, imported)
  local hash = ARTICLE .. article.number
  redis.call("HSET", hash, "title", title, "poster", article.poster, "time", article.time,
    "up", article.up, "down", article.down, "groups", table.concat(article.groups, " "))
  if link ~= "" then redis.call("HSET", hash, "link", link) end
  if content ~= "" then redis.call("HSET", hash, "content", content) end
  if imported > 0 then redis.call("HSET", hash, "imported", imported) end
  list(article)
end

-- Takes an article from its poster's timeline, and the poster from those who posted if it was their last.
local function retract(article)
  local timeline = TIMELINE .. string.lower(article.poster)
  redis.call("ZREM", timeline, article.member)
  local newest = redis.call("ZRANGE", timeline, 0, 0, "REV", "WITHSCORES")
  if newest[1] then
    redis.call("ZADD", POSTERS, newest[2], article.poster)
  else
    redis.call("ZREM", POSTERS, article.poster)
  end
end

-- The sets live as long as voting is open, and a minute more for votes on their way; an article that can no longer be
-- voted on gets none.
local GRACE = 60000
local function remember(set, article, voters)
  local left = article.time + window - now
  if left < 0 or #voters == 0 then return end
  for _, voter in ipairs(voters) do redis.call("SADD", set .. article.number, voter) end
  redis.call("PEXPIRE", set .. article.number, left + GRACE)
end

-- Tells all processes what changed, and the listings of which groups it concerns.
local function tell(kind, article, groups)
  redis.call("PUBLISH", EVENTS, table.concat({kind, article.number, article.poster, unpack(groups)}, " "))
end

-- Numbers carry the slot of their poster: sequence x 1024 + slot.
local function number_of(slot)
  return string.format("%.0f", redis.call("INCR", SEQUENCE) * 1024 + slot)
end

local function stored(number)
  return redis.call("HGETALL", ARTICLE .. number)
end
