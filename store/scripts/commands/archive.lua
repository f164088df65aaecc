-- Archive an article: remove it from Redis once the SQL database has it. The hash `archived` counts it. What stays: the
-- names of its groups, its poster's karma, and the time of the poster's newest article. Its comments stay for a moment,
-- too: from now on nothing but reads by their numbers finds them, and drop_conversation.lua removes them.
-- requires: archived_values, article_indexes, flags, recent_comments
-- from prelude: require_writable(), find_article(number) -> fields by name | nil, now (unix milliseconds),
--   window (milliseconds in which votes are open), GRACE (milliseconds from the end of voting until the sets of voters expire),
--   read_ranking(groups) -> {orders, own, next_weights}, ORDERS (of articles), INDEX (keys of the site's indexes, by order),
--   SITE_WEIGHTS (vote_score, hot_seconds and best_z of the site)
-- from archived_values: note_orders(article, prefix, weights), note_greatest(listing, value)
-- from flags: is_flagged(number)
-- from article_indexes: remove_from_link(article), archived_of(name) -> (count, unix milliseconds),
--   set_archived_of(name, count, newest)
-- from recent_comments: recent.is_relisting(article)
-- flags: allow-oom
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       lease: token of the process that does a task for all   heldedit: an edit that waits for approval
--       removing: articles and comments still to be removed or to enter or leave lists, in steps
--       tree: an article's comments by branch path
--       moving: articles about to leave Redis or just back: what the database has of them does not count
--       archived: how many articles are only in the SQL database, and their greatest values
--       good: articles with many votes, by time   coming: a group's indexes by its new weights, while they are built
--       siteranked: indexes by the site's weights, of groups that have weights of their own
--       woken: articles whose comments came back from the database
--       left: archived articles whose comments Redis still has
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of the article   8 digest of the hash as the database has it, from archivable_articles.lua
--       9 token of the caller's lease
--       10 number of its comments that the database has, also of those that are not shown
-- Reply {"archived"} | {"missing"} | {"open"} while voting is open | {"changed"} since it was read
--       | {"overtaken"} if another process has the lease
local comment_count = ARGV[10]
require_writable()
if redis.call("GET", KEY.lease .. "archiver") ~= ARGV[9] then return {"overtaken"} end
local article = find_article(ARGV[7])
if not article then return {"missing"} end
if now <= article.time + window + GRACE then return {"open"} end
-- It stays while it has flags that nobody has decided about, an edit that waits, or another number of comments: its hash, and
-- so the digest, does not show these.
if redis.call("EXISTS", KEY.heldedit .. article.number) == 1 or is_flagged(article.number) then return {"changed"} end
-- So it does while its comments leave lists or come back, because it was hidden or shown again.
local is_listing = redis.call("ZSCORE", KEY.removing, article.number) or recent.is_relisting(article.number)
if is_listing then return {"changed"} end
if redis.call("ZCARD", KEY.tree .. article.number) ~= tonumber(comment_count) then return {"changed"} end
-- `moving` has the articles whose places in the database do not count yet: this one, unless its move was given up.
local digest = redis.sha1hex(table.concat(article.flat, "\0"))
if digest ~= ARGV[8] or redis.call("SISMEMBER", KEY.moving, article.number) == 0 then return {"changed"} end

-- Out of each index, but pages still have to know whether the database has entries for them: so the hash `archived` has, of
-- each listing, the greatest value of an archived article, and how many there are.
local function leave_indexes()
  local ranking = read_ranking(article.groups)
  for _, order in ipairs(ORDERS) do redis.call("ZREM", INDEX[order], article.member) end
  note_orders(article, "", SITE_WEIGHTS)
  redis.call("HINCRBY", KEY.archived, "count", 1)
  if redis.call("ZREM", KEY.good, article.member) == 1 then
    note_greatest("good", article.time)
    redis.call("HINCRBY", KEY.archived, "count:good", 1)
  end
  for _, group in ipairs(article.groups) do
    for _, order in ipairs(ORDERS) do
      redis.call("ZREM", KEY.group .. group .. ":" .. order, article.member)
      redis.call("ZREM", KEY.coming .. group .. ":" .. order, article.member) -- the index that is built by new weights
      redis.call("ZREM", KEY.siteranked .. group .. ":" .. order, article.member) -- that by the weights of the site, to merge groups
    end
    note_orders(article, "group:" .. group .. ":", ranking.own[group] or SITE_WEIGHTS) -- `own`: a group's own weights
    redis.call("HINCRBY", KEY.archived, "count:group:" .. group, 1)
  end
  remove_from_link(article)

  local name = string.lower(article.poster)
  redis.call("ZREM", KEY.timeline .. name, article.member)
  local count, newest = archived_of(name)
  set_archived_of(name, count + 1, math.max(newest, article.time))
end

-- A removed article is in none of these. Its place among what is held of its poster stays.
local function leave_unlisted()
  redis.call("HINCRBY", KEY.archived, "count:removed", 1)
  redis.call("HINCRBY", KEY.archived, "serial", 1) -- by which reads notice that an article has left
end

if article.state then leave_unlisted() else leave_indexes() end
redis.call("DEL", KEY.article .. article.number, KEY.voted .. article.number, KEY.downvoted .. article.number)
redis.call("SREM", KEY.moving, article.number)
redis.call("ZREM", KEY.woken, article.number)
if comment_count ~= "0" then
  redis.call("ZADD", KEY.left, now, article.number)
  redis.call("HSET", KEY.archived, "conversations", "1") -- the database has comments of archived articles
end
return {"archived"}
