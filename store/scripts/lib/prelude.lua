-- What every script that works on articles begins with: the actor, and the values that the indexes hold.
-- requires: formulas
-- from formulas: hot(votes, time, seconds), best(up, votes, z), controversial(up, down)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       closed: set while the partition takes no writes
--       refused: names of users who are being deleted: nobody acts by them
--       ranking: the orders to write, and the weights of groups that have their own
--       coming: a group's indexes by its new weights, while they are built
--       siteranked: indexes by the site's weights, of groups that have weights of their own
--       good: articles with many votes, by time
-- ARGV  1 username of the actor, who acts, if the caller has verified it; "" if the script reads it from the session
--       2 without a username the digest of the actor's session, or ""; with one the words of the user's bans (`bans`
--       below), or "" if they are read here, as this partition has the user
--       3 now (unix milliseconds)
--       4 weights of the site, separated by spaces: vote_score (seconds that one vote is worth), hot_seconds (seconds
--       that ten times the votes are worth), best_z (standard deviations of the confidence interval)
--       5 how many votes make an article good   6 voting window (milliseconds)
--       from 7 on: arguments of the script itself
local INDEX = { -- keys of the site's indexes, by order
  score = KEY.score, time = KEY.time, votes = KEY.votes, hot = KEY.hot, best = KEY.best,
  controversial = KEY.controversial, gravity = KEY.gravity, active = KEY.active,
}

local now = tonumber(ARGV[3]) -- unix milliseconds
local good_votes = tonumber(ARGV[5]) -- how many votes make an article good
local window = tonumber(ARGV[6]) -- milliseconds in which votes are open

local function split(text) --> {word, ...}
  local list = {}
  for word in string.gmatch(text, "%S+") do list[#list + 1] = word end
  return list
end

-- Fails with CLOSED if the partition takes no writes.
local function require_writable()
  if redis.call("EXISTS", KEY.closed) == 1 then error({err = "CLOSED to writes"}) end
end

-- What stands for an article, a comment or an action in sorted sets: the number with all digits that it may have, so that
-- members with the same score are in the order of their numbers.
local function member_of(number) --> 16 digits
  return string.rep("0", 16 - #number) .. number
end

local bans = "" -- the words of the actor's bans: site=UNTIL or group:NAME=UNTIL (unix milliseconds, 0 for good)

-- The username of the actor, given by the caller or read from the session; false if the session has ended, or if the
-- user is being deleted. Fails with CLOSED if the partition takes no writes. This one is for commands that a banned
-- user may still use; others call `actor`. A session is stored as NAME END LAST-USE BANS, where BANS are the words of
-- `bans`.
local function any_actor() --> username | false
  require_writable()
  if ARGV[1] ~= "" then
    bans = ARGV[2]
    local username = string.lower(ARGV[1])
    if redis.call("SISMEMBER", KEY.refused, username) == 1 then return false end
    if bans == "" then bans = redis.call("HGET", KEY.user .. username, "bans") or "" end
    return ARGV[1]
  end
  local name, ends, words = string.match(redis.call("GET", KEY.session .. ARGV[2]) or "", "^(%S+) (%d+) ?%d* ?(.*)$")
  bans = words or ""
  return name and now <= tonumber(ends) and name
end

-- Fails with BANNED if the actor is banned from a place, which is `site` or `group:NAME`.
local function require_not_banned_from(place)
  for named, ends in string.gmatch(bans, "(%S+)=(%d+)") do
    if named == place and (ends == "0" or now < tonumber(ends)) then
      error({err = "BANNED " .. ends .. " " .. (string.match(place, "^group:(.*)") or "-")})
    end
  end
end

-- Fails with BANNED if the actor is banned from one of some groups. To be called after `any_actor` or `actor`.
local function require_not_banned(groups)
  if bans == "" then return end
  for _, group in ipairs(groups) do require_not_banned_from("group:" .. group) end
end

-- As `any_actor`, but fails with BANNED if the actor is banned from the site.
local function actor() --> username | false
  local name = any_actor()
  if name and bans ~= "" then require_not_banned_from("site") end
  return name
end

-- Reads an article as a table of its fields; nil if there is none. `flat` has the hash as HGETALL replies: field,
-- value, ... and `member` is the number in 16 digits, as sorted sets have it.
local function find_article(number) --> fields by name | nil
  local flat = redis.call("HGETALL", KEY.article .. number)
  if not flat[1] then return nil end
  local article = {number = number, member = member_of(number), flat = flat}
  for i = 1, #flat, 2 do article[flat[i]] = flat[i + 1] end
  article.time, article.up, article.down = tonumber(article.time), tonumber(article.up), tonumber(article.down)
  article.groups = article.groups ~= "" and split(article.groups) or {}
  return article
end

-- What the index of the order GRAVITY has of an article: a class of votes * 2^42 + the posting time, negative if it has
-- less than one vote. As its value falls with time, gravity_index.lua computes it from this mark (gravity_classes.lua).
local function gravity_mark(votes, time)
  local size, shifts = math.abs(votes - 1), 0
  while size >= 8 do size, shifts = math.floor(size / 2), shifts + 1 end
  local mark = (4 * shifts + size) * 2 ^ 42 + time
  return votes < 1 and -mark or mark
end

-- The value of an article in the index of an order.
local function order_value(article, order, weights) --> number
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

local SITE_WEIGHTS -- vote_score, hot_seconds and best_z of the site
do -- a script has at most 200 local variables
  local vote_score, hot_seconds, best_z = string.match(ARGV[4], "(%S+) (%S+) (%S+)")
  SITE_WEIGHTS = {vote_score = tonumber(vote_score), hot_seconds = tonumber(hot_seconds), best_z = tonumber(best_z)}
end
local ORDERS = {"score", "time", "votes", "hot", "best", "controversial", "gravity", "active"} -- of articles
local WEIGHTED_BY = {score = "vote_score", hot = "hot_seconds", best = "best_z"} -- orders whose index depends on a weight

-- The weights of a group by name, from the text NAME=NUMBER NAME=NUMBER ...: where it names none, those of the site. So
-- `rawget` says whether the group has its own.
local function parse_weights(text) --> weights by name
  local weights = setmetatable({}, {__index = SITE_WEIGHTS})
  for name, number in string.gmatch(text, "([%l_]+)=(%S+)") do weights[name] = tonumber(number) end
  return weights
end

-- Reads how some groups are ranked: `orders` are the orders to write (all by default), `own` the weights of each group
-- that has its own, `next_weights` the new weights of each group that is being rebuilt. Weighted indexes of such a
-- group are written twice, by the old weights and by the new ones. The hash `ranking` has the orders in the field
-- ORDERS, and weights in the fields GROUP and next:GROUP.
local function read_ranking(groups) --> {orders, own, next_weights}
  local ranking = {orders = ORDERS, own = {}, next_weights = {}}
  if redis.call("HLEN", KEY.ranking) == 0 then return ranking end
  local fields = {"ORDERS"}
  for _, group in ipairs(groups) do
    fields[#fields + 1] = group
    fields[#fields + 1] = "next:" .. group
  end
  local found = redis.call("HMGET", KEY.ranking, unpack(fields))
  if found[1] then ranking.orders = split(found[1]) end
  for i, group in ipairs(groups) do
    if found[2 * i] then ranking.own[group] = parse_weights(found[2 * i]) end
    if found[2 * i + 1] then ranking.next_weights[group] = parse_weights(found[2 * i + 1]) end
  end
  return ranking
end

-- Writes a place to an index. vote_counts.lua assigns another function to this name, which gathers places of many
-- articles.
local function add_place(index, value, member)
  redis.call("ZADD", index, value, member)
end

-- Writes an article to the index of an order in one group. `site_value` is its value by the weights of the site.
local function set_in_group(article, order, group, ranking, site_value)
  local own, next_weights = ranking.own[group], ranking.next_weights[group]
  local value = own and order_value(article, order, own) or site_value
  add_place(KEY.group .. group .. ":" .. order, value, article.member)
  if next_weights and WEIGHTED_BY[order] then
    add_place(KEY.coming .. group .. ":" .. order, order_value(article, order, next_weights), article.member)
  end
  local weight = WEIGHTED_BY[order]
  if weight and (own and rawget(own, weight) or next_weights and rawget(next_weights, weight)) then
    add_place(KEY.siteranked .. group .. ":" .. order, site_value, article.member) -- to merge groups in one page
  end
end

-- Writes an article to the index of an order, of the site and of its groups.
local function set_in_order(article, order, ranking)
  local value = order_value(article, order, SITE_WEIGHTS)
  add_place(INDEX[order], value, article.member)
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
    add_place(KEY.good, article.time, article.member)
  else
    redis.call("ZREM", KEY.good, article.member)
  end
end

local function add_karma(article, votes)
  redis.call("HINCRBY", KEY.user .. string.lower(article.poster), "karma", votes)
end

local GRACE = 60000 -- milliseconds from the end of voting until the sets of voters expire

-- Lets a set of voters of an article or a comment expire a minute after voting closes, so that votes under way still find
-- it. `prefix` is what its key has before the number: that of the kind `voted` or `downvoted`.
local function expire_voters(prefix, subject)
  redis.call("PEXPIRE", prefix .. subject.number, subject.time + window - now + GRACE)
end

-- Appends an entry to the log, and returns its id. It has new values, not differences, so that it can be applied again.
local function append_log(kind, actor, subject, ...) --> entry id
  return redis.call("XADD", KEY.log, "*", "kind", kind, "at", ARGV[3], "actor", actor, "subject", subject, ...)
end

-- Publishes a change to all processes, or on another channel. `groups` are those whose listings it concerns, `id` is that
-- of the log's entry.
local function publish_event(kind, article, groups, id, channel)
  local words = {kind, article.number, article.poster, id, unpack(groups)}
  redis.call("PUBLISH", channel or KEY.events, table.concat(words, " "))
end

-- Publishes to all processes that something has changed which `publish_event` does not describe. `number` is that of what
-- has changed, 0 for a user or the site; `name` is who did it, "-" for nobody or if it is not said; `id` is that of the
-- log's entry. Further words depend on the kind.
local function publish(kind, number, name, id, ...)
  redis.call("PUBLISH", KEY.events, table.concat({kind, number, name, id, ...}, " "))
end
