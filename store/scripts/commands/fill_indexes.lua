-- Write some articles, from a cursor on, to indexes that are being built: those of added orders, or those of a group by
-- its new weights (the numbers in the formulas of orders). Scripts that write meanwhile write to these indexes, too.
-- requires: prelude
-- from prelude: split(text) -> {word, ...}, read_ranking(groups) -> {orders, own, next_weights},
--   set_in_order(article, order, ranking), WEIGHTED_BY (orders whose index depends on a weight),
--   order_value(article, order, weights) -> number, SITE_WEIGHTS (vote_score, hot_seconds and best_z of the site),
--   INDEX (keys of the site's indexes, by order), find_article(number) -> fields by name | nil
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       ranking: the orders to write, and the weights of groups that have their own
--       coming: a group's indexes by its new weights, while they are built
--       siteranked: indexes by the site's weights, of groups that have weights of their own
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 group, or "" for orders   8 token of the rebuild, as `ranking` has it
--       9 the added orders, separated by spaces   10 ZSCAN cursor
-- Reply {"filled", next cursor, "0" at the end, number of articles} | {"stale"} if another rebuild has begun
local group = ARGV[7]
if redis.call("HGET", KEY.ranking, group == "" and "REINDEX" or "next:" .. group) ~= ARGV[8] then return {"stale"} end

local added = split(ARGV[9])

-- Writes an article to the indexes that are being built.
local function fill(article)
  local ranking = read_ranking(article.groups)
  for _, order in ipairs(group == "" and added or {}) do set_in_order(article, order, ranking) end
  for _, order in ipairs(group ~= "" and ranking.next_weights[group] and ranking.orders or {}) do
    if WEIGHTED_BY[order] then
      local value = order_value(article, order, ranking.next_weights[group])
      redis.call("ZADD", KEY.coming .. group .. ":" .. order, value, article.member)
      if rawget(ranking.next_weights[group], WEIGHTED_BY[order]) then -- `rawget`: its own weights, without those of the site as defaults
        local site_value = order_value(article, order, SITE_WEIGHTS)
        redis.call("ZADD", KEY.siteranked .. group .. ":" .. order, site_value, article.member)
      end
    end
  end
end

local source = group == "" and INDEX.time or KEY.group .. group .. ":time"
local AT_ONCE = 40 -- articles, about, as the script blocks the server
local cursor, found = unpack(redis.call("ZSCAN", source, ARGV[10], "COUNT", AT_ONCE))
for i = 1, #found, 2 do
  local article = find_article(string.format("%.0f", tonumber(found[i])))
  if article then fill(article) end
end
return {"filled", cursor, #found / 2}
