-- Prelude of every script that works on articles: names of the keys, the actor, and the values that the indexes hold.
-- Follows formulas.lua in scripts.
-- KEYS  1-15 prefixes and whole keys of one partition, in the order of `keys.partition_keys`: a prefix ends with ":"
--       and gets an article number, a username in lower case, a group or a digest appended
--       16-23 the index of each order   24 closed:{p}   25 channel events:{p}   26 numbered:{p}
--       27 links:{p}:   28 log:{p}   29 logged:{p}   30 archived:{p}   31 moving:{p}   32 lease:{p}:archiver
-- ARGV  1 username of the actor, or ""   2 digest of the actor's session, or ""   3 now (unix milliseconds)
--       4 weights of the site, separated by spaces: vote_score (seconds), hot_seconds, best_z
--       5 votes of a good article   6 voting window (milliseconds)   from 7 on: arguments of the script itself
local ARTICLE, VOTED, DOWNVOTED, USER, TIMELINE, GROUP = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local GROUPS, GOOD_ARTICLES, SEQUENCE, SESSION, POSTED = KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11]
local IMPORTED, NEWEST_POSTS, RANKING, NEXT_GROUP = KEYS[12], KEYS[13], KEYS[14], KEYS[15]
local INDEX = {
  score = KEYS[16], time = KEYS[17], votes = KEYS[18], hot = KEYS[19], best = KEYS[20], controversial = KEYS[21],
  gravity = KEYS[22], active = KEYS[23],
}
local CLOSED, EVENTS, NUMBERED, LINKS, LOG, LOGGED = KEYS[24], KEYS[25], KEYS[26], KEYS[27], KEYS[28], KEYS[29]
local ARCHIVED, MOVING, ARCHIVER = KEYS[30], KEYS[31], KEYS[32]

local now, good_votes, window = tonumber(ARGV[3]), tonumber(ARGV[5]), tonumber(ARGV[6])

local function split(text)
  local list = {}
  for word in string.gmatch(text, "%S+") do list[#list + 1] = word end
  return list
end

-- Fails with CLOSED if the partition takes no writes.
local function require_open()
  if redis.call("EXISTS", CLOSED) == 1 then error({err = "CLOSED to writes"}) end
end

-- The username of the actor, given by the caller or read from the session; false if the session has ended. Fails with
-- CLOSED if the partition takes no writes.
local function actor()
  require_open()
  if ARGV[1] ~= "" then return ARGV[1] end
  local name, ends = string.match(redis.call("GET", SESSION .. ARGV[2]) or "", "^(%S+) (%d+)$")
  return name and now <= tonumber(ends) and name
end

-- Reads an article; nil if there is none. `flat` has the hash as HGETALL replies: field, value, ...
local function find_article(number)
  local flat = redis.call("HGETALL", ARTICLE .. number)
  if not flat[1] then return nil end
  local article = {number = number, member = string.rep("0", 16 - #number) .. number, flat = flat}
  for i = 1, #flat, 2 do article[flat[i]] = flat[i + 1] end
  article.time, article.up, article.down = tonumber(article.time), tonumber(article.up), tonumber(article.down)
  article.groups = article.groups ~= "" and split(article.groups) or {}
  return article
end

-- The index of GRAVITY holds a class of votes and the posting time. gravity_index.lua computes values from them.
local function gravity_mark(votes, time)
  local size, shifts = math.abs(votes - 1), 0
  while size >= 8 do size, shifts = math.floor(size / 2), shifts + 1 end
  local mark = (4 * shifts + size) * 2 ^ 42 + time
  return votes < 1 and -mark or mark
end

-- The value of an article in the index of an order.
local function order_value(article, order, weights)
  local up, down = article.up, article.down
  if order == "votes" then return up - down end
  if order == "score" then return article.time + weights.vote_score * 1000 * (up - down) end
  if order == "hot" then return hot(up - down, article.time, weights.hot_seconds) end
  if order == "best" then return best(up, up + down, weights.best_z) end
  if order == "gravity" then return gravity_mark(up - down, article.time) end
  if order == "controversial" then return controversial(up, down) end
  if order == "active" and (tonumber(article.comments) or 0) > 0 then return tonumber(article.active) or article.time end
  return article.time
end

local vote_score, hot_seconds, best_z = string.match(ARGV[4], "(%S+) (%S+) (%S+)")
local SITE_WEIGHTS = {vote_score = tonumber(vote_score), hot_seconds = tonumber(hot_seconds), best_z = tonumber(best_z)}
local ORDERS = {"score", "time", "votes", "hot", "best", "controversial", "gravity", "active"}
-- The orders whose index depends on a weight.
local WEIGHTED_BY = {score = "vote_score", hot = "hot_seconds", best = "best_z"}

local function parse_weights(text)
  local weights = setmetatable({}, {__index = SITE_WEIGHTS})
  for name, number in string.gmatch(text, "([%l_]+)=(%S+)") do weights[name] = tonumber(number) end
  return weights
end

-- Reads how some groups are ranked: `orders` are the orders to write (all by default), `own` the weights of each group
-- that has its own, `next_weights` the new weights of each group that is being rebuilt. Weighted indexes of such a group
-- are written twice, by the old weights and by the new ones.
local function read_ranking(groups)
  local ranking = {orders = ORDERS, own = {}, next_weights = {}}
  if redis.call("HLEN", RANKING) == 0 then return ranking end
  local fields = {"ORDERS"}
  for _, group in ipairs(groups) do
    fields[#fields + 1] = group
    fields[#fields + 1] = "next:" .. group
  end
  local found = redis.call("HMGET", RANKING, unpack(fields))
  if found[1] then ranking.orders = split(found[1]) end
  for i, group in ipairs(groups) do
    if found[2 * i] then ranking.own[group] = parse_weights(found[2 * i]) end
    if found[2 * i + 1] then ranking.next_weights[group] = parse_weights(found[2 * i + 1]) end
  end
  return ranking
end

-- Writes an article to the index of an order in one group. `site_value` is its value by the weights of the site.
local function set_in_group(article, order, group, ranking, site_value)
  local own, next_weights = ranking.own[group], ranking.next_weights[group]
  local value = own and order_value(article, order, own) or site_value
  redis.call("ZADD", GROUP .. group .. ":" .. order, value, article.member)
  if next_weights and WEIGHTED_BY[order] then
    redis.call("ZADD", NEXT_GROUP .. group .. ":" .. order, order_value(article, order, next_weights), article.member)
  end
end

-- Writes an article to the index of an order, of the site and of its groups.
local function set_in_order(article, order, ranking)
  local value = order_value(article, order, SITE_WEIGHTS)
  redis.call("ZADD", INDEX[order], value, article.member)
  for _, group in ipairs(article.groups) do set_in_group(article, order, group, ranking, value) end
end

-- Writes an article to the indexes of all orders, and to the good articles. With `before`, the article's votes and time
-- before a change, only where its value changes.
local function update_indexes(article, before)
  local ranking = read_ranking(article.groups)
  for _, order in ipairs(ranking.orders) do
    local may_stay = order == "controversial" or order == "gravity"
    local stays = before
      and (order == "time" or order == "active" or may_stay and order_value(article, order) == order_value(before, order))
    if not stays then
      set_in_order(article, order, ranking)
    end
  end
  local is_good = article.up - article.down >= good_votes
  if before and is_good == (before.up - before.down >= good_votes) then return end
  if is_good then
    redis.call("ZADD", GOOD_ARTICLES, article.time, article.member)
  else
    redis.call("ZREM", GOOD_ARTICLES, article.member)
  end
end

local function add_karma(article, votes)
  redis.call("HINCRBY", USER .. string.lower(article.poster), "karma", votes)
end

-- The sets of voters expire a minute after voting closes, so that votes under way still find them.
local GRACE = 60000
local function expire_voters(set, article)
  redis.call("PEXPIRE", set .. article.number, article.time + window - now + GRACE)
end

-- Appends an entry to the log, and returns its id. All values are new ones, so that entries can be applied again.
local function append_log(kind, actor, subject, ...)
  return redis.call("XADD", LOG, "*", "kind", kind, "at", ARGV[3], "actor", actor, "subject", subject, ...)
end

-- Publishes a change to all processes. `groups` are those whose listings it concerns, `id` is that of the log's entry.
local function publish_event(kind, article, groups, id)
  redis.call("PUBLISH", EVENTS, table.concat({kind, article.number, article.poster, id, unpack(groups)}, " "))
end
