-- Write a comment of a backup with everything derived from it in its partition. Its article, its parent and its voters have
-- to be restored first. Safe to repeat.
-- KEYS  see comments.lua
-- ARGV  1-7 see comments.lua   8 number   9 slot of the poster, or "" of a deleted comment   10 and on: field, value, ...
-- Reply {"restored"} | {"known"} if the comment existed | {"missing"} if its article or its parent is
local number = ARGV[8]
local is_known = redis.call("EXISTS", COMMENT .. number) == 1
if not is_known then redis.call("HSET", COMMENT .. number, unpack(ARGV, 10)) end

local comment = find_comment(number)
local parent = comment.parent and find_comment(comment.parent)
local is_answer = not comment.parent or parent and parent.article == comment.article
if not is_answer or redis.call("EXISTS", ARTICLE .. comment.article) == 0 then
  redis.call("DEL", comment.hash, VOTED .. number, DOWNVOTED .. number)
  return {"missing"}
end

local left = comment.time + window - now
for _, voters in ipairs({VOTED .. number, DOWNVOTED .. number}) do
  if left < 0 then redis.call("DEL", voters) else redis.call("PEXPIRE", voters, left + GRACE) end
end
if is_known then return {"known"} end

redis.call("HSET", comment.hash, "depth", parent and parent.depth + 1 or 0)
if ARGV[9] ~= "" then redis.call("HSET", comment.hash, "slot", ARGV[9]) end
add_to_tree(comment, parent and parent.path or ARTICLE_PATH)
update_replies(comment)
if comment.state == "deleted" then
  redis.call("ZADD", STUBS .. comment.article, 0, tree_member(find_comment(number).path, number))
else
  count_comment(comment, 1)
end
return {"restored"}
