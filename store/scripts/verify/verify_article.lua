-- Verify an article: its hash, its voters while voting is open, its entry in every sorted set, and whether it is removed and
-- locked as the actions of moderators say.
-- requires: article_states, decisions, verify_prelude
-- from prelude: now (unix milliseconds), GRACE (milliseconds from the end of voting until the sets of voters expire),
--   read_ranking(groups) -> {orders, own, next_weights}, split(text) -> {word, ...},
--   INDEX (keys of the site's indexes, by order), order_value(article, order, weights) -> number,
--   SITE_WEIGHTS (vote_score, hot_seconds and best_z of the site), WEIGHTED_BY (orders whose index depends on a weight),
--   ORDERS (of articles), good_votes (how many votes make an article good), find_article(number) -> fields by name | nil
-- from notifications: partitions (how many there are)
-- from article_states: set_state(article, state, actor, rule), set_locked(article, is_locked, actor)
-- from actions: standing_action(subject, kinds, wanted) -> (number, kind) | nil
-- from decisions: state_of(subject) -> (state | nil, kind | nil, rule | nil)
-- from verify_prelude: examine(number) -> article | nil, name (what the key ends with: a number, a username or a group),
--   reply (the next cursor, then four values of each finding), report(where, found, expected, repair), is_user(username),
--   expect_voters(subject), expect_number(hash, field, found, value), expect_expiry(key, instant),
--   expect_member(index, member, value), log_repairs(subject)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       ranking: the orders to write, and the weights of groups that have their own
--       siteranked: indexes by the site's weights, of groups that have weights of their own
--       groups: names of groups that are listed or have articles   good: articles with many votes, by time
--       held: a user's pending and removed articles   heldedit: an edit that waits for approval
--       queue: what waits for moderators   links: articles by the digest of their link
--       removing: articles and comments still to be removed or to enter or leave lists, in steps
-- ARGV  1-6 for prelude.lua: 3 now (unix milliseconds)   7 "repair" to repair what is wrong, else ""
--       8 `name`, the last part of the key: a number
--       9 orders whose indexes are complete even during a reindex, separated by spaces
--       10 "links" if the index of links is complete, else ""   11 link as the caller read it, or ""
--       12 its digest, or ""   13 number of partitions   14 "homes" if the indexes `siteranked` are complete, else ""
-- Reply {"0", then of each finding: key with field or member, found value, expected value, "repaired" or ""}
local digest_of_link = ARGV[12]
partitions = tonumber(ARGV[13]) -- notifications.lua takes it from ARGV 7 or 8, which are something else here
local article = examine(name)
if not article then return reply end

for _, field in ipairs(article.invalid) do
  report(article.hash .. " " .. field, article.fields[field], "a usable " .. field)
end
if article.invalid[1] then return reply end

if not is_user(article.poster) then report(article.hash .. " poster", article.poster, "a user of this partition") end

local voted, downvoted = KEY.voted .. article.number, KEY.downvoted .. article.number
if article.counted then expect_voters(article) end
if now <= article.closes and not article.counted then report(voted, nil, "there while voting is open") end
expect_number(article.hash, "up", article.fields.up, article.up)
expect_number(article.hash, "down", article.fields.down, article.down)
expect_expiry(voted, article.closes + GRACE)
expect_expiry(downvoted, article.closes + GRACE)

local is_listed = not article.state
-- Orders that are written now, and those whose indexes are complete.
local ranking, written, complete = read_ranking(article.groups), {}, {}
for _, order in ipairs(ranking.orders) do written[order] = true end
for _, order in ipairs(split(ARGV[9])) do complete[order] = true end
local has_homes = ARGV[14] == "homes"
local is_reindexing = redis.call("HEXISTS", KEY.ranking, "REINDEX") == 1

local function expect_in_order(order)
  local is_written = is_listed and written[order]
  expect_member(INDEX[order], article.member, is_written and order_value(article, order, SITE_WEIGHTS))
  for _, group in ipairs(article.groups) do
    local value = is_written and order_value(article, order, ranking.own[group] or SITE_WEIGHTS)
    expect_member(KEY.group .. group .. ":" .. order, article.member, value)
    local own, weight = ranking.own[group], WEIGHTED_BY[order]
    if has_homes and own and weight and rawget(own, weight) then -- `rawget`: its own weights, without those of the site as defaults
      local site_value = is_written and order_value(article, order, SITE_WEIGHTS)
      expect_member(KEY.siteranked .. group .. ":" .. order, article.member, site_value)
    end
  end
end

-- Without a reindex, an order that is written and not complete is a new one, which a store of an earlier version lacks.
for _, order in ipairs(ORDERS) do
  if written[order] and complete[order] or not written[order] and not is_reindexing then expect_in_order(order) end
end
for _, group in ipairs(is_listed and article.groups or {}) do expect_member(KEY.groups, group, 0) end
local is_good = is_listed and article.up - article.down >= good_votes
expect_member(KEY.good, article.member, is_good and article.time or nil)
expect_member(KEY.timeline .. string.lower(article.poster), article.member, is_listed and article.time or nil)
expect_member(KEY.held .. string.lower(article.poster), article.member, not is_listed and article.time or nil)

-- An article waits in the queue `pending` while it is held, or a visible one while an edit of it is.
local edited_at = not article.state and tonumber(redis.call("HGET", KEY.heldedit .. article.number, "at") or nil)
local since = article.state == "pending" and article.time or edited_at or nil
expect_member(KEY.queue .. "pending:all", article.member, since)
for _, group in ipairs(article.groups) do expect_member(KEY.queue .. "pending:group:" .. group, article.member, since) end

local link, link_digest = unpack(redis.call("HMGET", article.hash, "link", "link_digest"))
if ARGV[10] == "links" and (link or "") == ARGV[11] then
  if (link_digest or "") ~= digest_of_link then
    report(article.hash .. " link_digest", link_digest, digest_of_link ~= "" and digest_of_link, function()
      if digest_of_link == "" then redis.call("HDEL", article.hash, "link_digest") end
      if digest_of_link ~= "" then redis.call("HSET", article.hash, "link_digest", digest_of_link) end
    end)
  end
  if link then expect_member(KEY.links .. digest_of_link, article.member, is_listed and article.time or nil) end
end
-- `away` says that the article is out of inboxes, as it is not visible. While `removing` has it, this is being changed.
local notified, away = unpack(redis.call("HMGET", article.hash, "notified", "away"))
if notified and (away == "1") ~= not is_listed and not redis.call("ZSCORE", KEY.removing, name) then
  report(article.hash .. " away", away, not is_listed and "1" or nil, function()
    redis.call("ZADD", KEY.removing, now, name)
  end)
end
log_repairs("article:" .. name)

-- Last, as the repair moves the article to other indexes.
local NOBODY = "" -- who does it, in the log
local subject = "article:" .. name
local state, is_locked = state_of(subject), standing_action(subject, "lock") ~= nil
if (state == "removed") ~= (article.state == "removed") then
  report(article.hash .. " state", article.state or "visible", state or "visible", function()
    set_state(find_article(name), state, NOBODY)
  end)
end
if is_locked ~= (article.fields.locked == "1") then
  report(article.hash .. " locked", article.fields.locked, is_locked and "1" or nil, function()
    set_locked(find_article(name), is_locked, NOBODY)
  end)
end
return reply
