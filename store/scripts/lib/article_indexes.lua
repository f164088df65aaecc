-- Functions that write an article, add it to the indexes and remove it. They are not in prelude.lua, because
-- functions are defined again in each call of a script, and a vote needs none of these.
-- requires: flags, numbers, prelude
-- from prelude: read_ranking(groups) -> {orders, own, next_weights}, set_in_group(article, order, group, ranking, site_value),
--   order_value(article, order, weights) -> number, SITE_WEIGHTS (vote_score, hot_seconds and best_z of the site),
--   ORDERS (of articles), WEIGHTED_BY (orders whose index depends on a weight), update_indexes(article, before),
--   INDEX (keys of the site's indexes, by order), window (milliseconds in which votes are open), now (unix milliseconds),
--   expire_voters(prefix, subject)
-- from flags: set_waiting(queue, number, since, groups, groups_before)
-- from numbers: make_number(sequence, slot) -> text
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       archived: how many articles are only in the SQL database, and their greatest values
--       place: what is written about a group   groups: names of groups that are listed or have articles
--       coming: a group's indexes by its new weights, while they are built
--       siteranked: indexes by the site's weights, of groups that have weights of their own
--       links: articles by the digest of their link   held: a user's pending and removed articles
--       posters: usernames, by the time of the newest article   good: articles with many votes, by time
--       numbered: what numbers of imports were made of

local function article_hash(number) --> {field, value, ...}
  return redis.call("HGETALL", KEY.article .. number)
end

-- How many archived articles, which are in the SQL database only, a user has, and when the newest was posted (unix
-- milliseconds; 0 without any). `name` is in lower case.
local function archived_of(name) --> (count, unix milliseconds)
  local count, newest = string.match(redis.call("HGET", KEY.archived, "user:" .. name) or "", "^(%d+) (%d+)")
  return tonumber(count or 0), tonumber(newest or 0)
end

-- Sets what `archived_of` returns. Each value has a new serial number, so none occurs twice: unarchive.lua compares
-- the value with one that was read earlier, and so notices each change between them.
local function set_archived_of(name, count, newest)
  local field, serial = "user:" .. name, redis.call("HINCRBY", KEY.archived, "serial", 1)
  if count == 0 then
    redis.call("HDEL", KEY.archived, field)
  else
    redis.call("HSET", KEY.archived, field, string.format("%.0f %.0f %.0f", count, newest, serial))
  end
end

-- Removes a group from `groups`, the groups that the site lists, if it has no article in this partition, and no admin has
-- made it (`listed`).
local function remove_if_empty(group)
  if redis.call("EXISTS", KEY.group .. group .. ":time") == 1 then return end
  if redis.call("HEXISTS", KEY.archived, "count:group:" .. group) == 1 then return end
  if redis.call("HEXISTS", KEY.place .. group, "listed") == 0 then redis.call("ZREM", KEY.groups, group) end
end

local function add_to_group(article, group)
  local ranking = read_ranking({group})
  for _, order in ipairs(ranking.orders) do
    set_in_group(article, order, group, ranking, order_value(article, order, SITE_WEIGHTS))
  end
  redis.call("ZADD", KEY.groups, 0, group)
end

local function remove_from_group(article, group)
  for _, order in ipairs(ORDERS) do redis.call("ZREM", KEY.group .. group .. ":" .. order, article.member) end
  for order in pairs(WEIGHTED_BY) do -- the indexes of a group by weights that it will have, and by those of the site
    redis.call("ZREM", KEY.coming .. group .. ":" .. order, article.member)
    redis.call("ZREM", KEY.siteranked .. group .. ":" .. order, article.member)
  end
  remove_if_empty(group)
end

-- The index of a link. `link_digest` is the digest of the link's canonical form (see store/links.py); "" or nil if the
-- article has no link. Only visible articles are in the index.
local function add_to_link(article)
  if article.state or (article.link_digest or "") == "" then return end
  redis.call("ZADD", KEY.links .. article.link_digest, article.time, article.member)
end

local function remove_from_link(article)
  if article.link_digest then redis.call("ZREM", KEY.links .. article.link_digest, article.member) end
end

-- Moves an article to the index of another link.
local function set_link_digest(article, digest)
  remove_from_link(article)
  article.link_digest = digest
  if digest == "" then
    redis.call("HDEL", KEY.article .. article.number, "link_digest")
  else
    redis.call("HSET", KEY.article .. article.number, "link_digest", digest)
  end
  add_to_link(article)
end

-- Puts an article that is pending in the queue of those that wait for approval, at the instant `since`; without an instant
-- it leaves the queue. Does nothing for other articles.
local function set_pending(article, since)
  if article.state ~= "pending" then return end
  set_waiting("pending", article.number, since, article.groups, article.groups)
end

-- Adds an article to every index: those of the site, its groups and its link, and the timeline of its poster. One that
-- is not visible is in none of these, but among what is held of its poster, and in a queue if it is pending.
local function add_to_indexes(article)
  if article.state then
    redis.call("ZADD", KEY.held .. string.lower(article.poster), article.time, article.member)
    set_pending(article, article.time)
    return
  end
  update_indexes(article)
  for _, group in ipairs(article.groups) do redis.call("ZADD", KEY.groups, 0, group) end
  add_to_link(article)
  redis.call("ZADD", KEY.timeline .. string.lower(article.poster), article.time, article.member)
  redis.call("ZADD", KEY.posters, "GT", article.time, article.poster)
end

-- Writes the hash of a new article and adds it to the indexes. `imported` is how many of its upvotes have no voter that is
-- known.
local function write_article(article, title, link, content, imported)
  local hash = KEY.article .. article.number
  redis.call("HSET", hash, "title", title, "poster", article.poster, "time", article.time,
    "up", article.up, "down", article.down, "groups", table.concat(article.groups, " "))
  if link ~= "" then redis.call("HSET", hash, "link", link, "link_digest", article.link_digest) end
  if content ~= "" then redis.call("HSET", hash, "content", content) end
  if imported > 0 then redis.call("HSET", hash, "imported", imported) end
  add_to_indexes(article)
end

-- The fields and values of a new article in the log.
local function entry_of(article, title, link, content) --> field, value, ...
  return "title", title, "link", link, "content", content, "groups", table.concat(article.groups, " "),
    "time", article.time, "up", article.up, "down", article.down
end

-- Removes an article from the timeline of its poster, and a poster without any other article from `posters`.
local function remove_from_timeline(article)
  local name = string.lower(article.poster)
  redis.call("ZREM", KEY.timeline .. name, article.member)
  local newest = redis.call("ZRANGE", KEY.timeline .. name, 0, 0, "REV", "WITHSCORES")
  local archived, newest_archived = archived_of(name)
  if newest[1] or archived > 0 then
    redis.call("ZADD", KEY.posters, math.max(tonumber(newest[2] or 0), newest_archived), article.poster)
  else
    redis.call("ZREM", KEY.posters, article.poster)
  end
end

-- Removes an article from every index to which `add_to_indexes` has added it.
local function remove_from_indexes(article)
  if article.state then
    redis.call("ZREM", KEY.held .. string.lower(article.poster), article.member)
    set_pending(article, nil)
    return
  end
  for _, order in ipairs(ORDERS) do redis.call("ZREM", INDEX[order], article.member) end
  redis.call("ZREM", KEY.good, article.member) -- of articles with many votes, which `update_indexes` keeps
  for _, group in ipairs(article.groups) do remove_from_group(article, group) end
  remove_from_link(article)
  remove_from_timeline(article)
end

-- The karma that an article gives its poster: a removed one gives none.
local function karma_of(article) --> number
  return article.state == "removed" and 0 or article.up - article.down - 1
end

-- Adds voters to the set of upvotes, unless voting is closed.
local function add_voters(article, voters)
  if article.time + window < now then return end
  for _, voter in ipairs(voters) do redis.call("SADD", KEY.voted .. article.number, voter) end
  expire_voters(KEY.voted, article)
end

-- The lowest sequence of an import. A sequence is twice a time in milliseconds (numbers.lua), so this one is of an
-- instant in 1972: early versions gave lower ones to posts.
local FIRST_OF_STORIES = 2 ^ 37 + 1

-- The first odd sequence from `sequence` on that no import has taken. The sorted set `numbered` has those that are
-- taken. If two of them differ by twice the difference of their ranks, all odd sequences between them are taken, so a
-- binary search finds the first gap.
local function first_free_sequence(sequence)
  local rank = redis.call("ZRANK", KEY.numbered, string.format("%.0f", sequence))
  if not rank then return sequence end
  local taken, beyond = 0, redis.call("ZCARD", KEY.numbered) - rank
  while beyond - taken > 1 do
    local middle = math.floor((taken + beyond) / 2)
    local found = redis.call("ZRANGE", KEY.numbered, rank + middle, rank + middle)[1]
    if tonumber(found) == sequence + 2 * middle then taken = middle else beyond = middle end
  end
  return sequence + 2 * beyond
end

-- The number of an imported story or comment, derived from its posting time.
local function story_number(time, slot) --> number
  local sequence = first_free_sequence(math.max(2 * time + 1, FIRST_OF_STORIES))
  local number = make_number(sequence, slot)
  while redis.call("EXISTS", KEY.article .. number, KEY.comment .. number) > 0 do -- `numbered` was lost
    sequence = first_free_sequence(sequence + 2)
    number = make_number(sequence, slot)
  end
  redis.call("ZADD", KEY.numbered, sequence, string.format("%.0f", sequence))
  return number
end
