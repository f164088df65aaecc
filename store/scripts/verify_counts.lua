-- Verify the number of visible comments of an article, or of visible replies to a comment, by the indexes.
-- KEYS  see comments.lua
-- ARGV  1-8 see verify_prelude.lua; the name is a number   9 "article" or "comment"
-- Reply see verify_prelude.lua
if ARGV[9] == "article" then
  local article = examine(name)
  if not article then return reply end  -- deleted meanwhile: its comments go next
  local found = article.comments
  article.comments = redis.call("ZCARD", TREE .. name) - redis.call("ZCARD", STUBS .. name)
  expect_number(article.hash, "comments", found or 0, article.comments)
  if repairing and reply[2] and not article.invalid[1] then index_activity(article) end
  return reply
end

local comment = find_comment(name)
if not comment or not comment.path then return reply end

local count = redis.call("ZCARD", REPLIES .. name .. ":time")
local is_left = comment.state == "deleted" and count == 0 and not redis.call("ZSCORE", REMOVING, name)
if is_left and redis.call("ZLEXCOUNT", TREE .. comment.article, descendants_of(comment.path)) == 0 then
  report(comment.hash, "there", "nothing, as it is deleted and has no replies", function()
    redis.call("ZADD", REMOVING, now, name)
  end)
  return reply
end
if count > 0 then
  local from, to = descendants_of(comment.path)
  for _, member in ipairs(redis.call("ZRANGEBYLEX", STUBS .. comment.article, from, to)) do
    local number = string.match(member, " (%d+)$")
    if redis.call("HGET", COMMENT .. number, "parent") == name then count = count - 1 end
  end
end
expect_number(comment.hash, "replies", comment.replies or 0, count)
return reply
