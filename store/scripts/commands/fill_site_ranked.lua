-- Write some articles of a group, from a cursor on, to its indexes by the weights of the site (the numbers in the
-- formulas of orders), if it has weights of its own: a store of an earlier version lacks these indexes.
-- Scripts that write meanwhile write to them, too.
-- requires: prelude
-- from prelude: require_writable(), read_ranking(groups) -> {orders, own, next_weights},
--   find_article(number) -> fields by name | nil, WEIGHTED_BY (orders whose index depends on a weight),
--   set_in_group(article, order, group, ranking, site_value), order_value(article, order, weights) -> number,
--   SITE_WEIGHTS (vote_score, hot_seconds and best_z of the site)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 group   8 ZSCAN cursor
-- Reply the next cursor, "0" at the end
require_writable()
local group = ARGV[7]
local ranking = read_ranking({group})
local AT_ONCE = 40 -- articles, about, as the script blocks the server
local cursor, found = unpack(redis.call("ZSCAN", KEY.group .. group .. ":time", ARGV[8], "COUNT", AT_ONCE))
for i = 1, #found, 2 do
  local article = find_article(string.format("%.0f", tonumber(found[i])))
  for _, order in ipairs(article and ranking.orders or {}) do
    if WEIGHTED_BY[order] then set_in_group(article, order, group, ranking, order_value(article, order, SITE_WEIGHTS)) end
  end
end
return cursor
