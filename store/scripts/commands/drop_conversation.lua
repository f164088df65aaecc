-- Remove some comments of an archived article, which the database has. The caller repeats the script until none is left.
-- requires: comments
-- from prelude: require_open()
-- from comments: REPLY_ORDERS (in which replies have an index)
-- flags: allow-oom
-- ARGV  1-7 actor, time, settings of the site and partitions: see notifications.lua   8 number of the article
--       9 token of the caller's lease of conversations   10 how many comments to remove at most
-- Reply {"more"} | {"done"} | {"overtaken"} if another process has the lease
require_open()
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
redis.call("UNLINK", KEY.stubs .. article, KEY.latest .. article, KEY.pins .. article)
redis.call("ZREM", KEY.left, article)
redis.call("ZREM", KEY.woken, article) -- a process that has ended was bringing it back
return {"done"}
