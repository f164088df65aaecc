-- Remove some comments of an archived article, which the database has. The caller repeats the script until none is left.
-- requires: comments
-- from prelude: require_writable()
-- from comments: REPLY_ORDERS (in which replies have an index)
-- flags: allow-oom
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       lease: token of the process that does a task for all   tree: an article's comments by branch path
--       left: archived articles whose comments Redis still has
--       replies: replies to an article or comment, by the value of an order
--       stubs: those comments of a tree that are not visible
--       latest: an article's visible comments by time, if it has many
--       pins: moments at which a thread's order was kept   moved: the last moves of an article's comments
--       woken: articles whose comments came back from the database
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of partitions   8 number of the article
--       9 token of the lease that one process at a time has for this task   10 how many comments to remove at most
-- Reply {"more"} | {"done"} | {"overtaken"} if another process has the lease
require_writable()
if redis.call("GET", KEY.lease .. "conversations") ~= ARGV[9] then return {"overtaken"} end
local article = ARGV[8]
local tree = KEY.tree .. article
if not redis.call("ZSCORE", KEY.left, article) or redis.call("EXISTS", KEY.article .. article) == 1 then
  redis.call("ZREM", KEY.left, article)
  return {"done"}
end

local function drop_indexes(number)
  for _, order in ipairs(REPLY_ORDERS) do redis.call("UNLINK", KEY.replies .. number .. ":" .. order) end
end

for _, member in ipairs(redis.call("ZRANGEBYLEX", tree, "-", "+", "LIMIT", 0, ARGV[10])) do
  local number = string.match(member, " (%d+)$")
  redis.call("UNLINK", KEY.comment .. number, KEY.voted .. number, KEY.downvoted .. number)
  drop_indexes(number)
  redis.call("ZREM", tree, member)
end
if redis.call("EXISTS", tree) == 1 then return {"more"} end
drop_indexes(article)
redis.call("UNLINK", KEY.stubs .. article, KEY.latest .. article, KEY.pins .. article, KEY.moved .. article)
redis.call("ZREM", KEY.left, article)
redis.call("ZREM", KEY.woken, article) -- a process that has ended was bringing it back
return {"done"}
