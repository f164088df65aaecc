-- Write a comment of a backup with everything derived from it in its partition. The article, the parent and the voters
-- have to be restored first. Safe to repeat.
-- requires: comment_removal
-- from prelude: window (milliseconds in which votes are open), now (unix milliseconds),
--   GRACE (milliseconds from the end of voting until the sets of voters expire)
-- from branch_paths: tree_member(path, number) -> LABEL NUMBER
-- from comments: find_comment(number) -> fields by name | nil,
--   find_article_info(number) -> {poster, time, state, locked, groups} | nil, ARTICLE_PATH (the branch path of any article),
--   update_replies(comment, before), count_comment(comment, change) -> groups
-- from comment_tree: add_to_tree(comment, parent_path)
-- from pending_comments: queue_pending(comment, groups)
-- from comment_removal: set_place(comment, is_placed), update_places(number, limit) -> (removed numbers, next number | nil)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       stubs: those comments of a tree that are not visible
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of partitions   8 number of the comment
--       9 slot of the poster (one of 1,024; it decides their partition), or "" of a deleted comment
--       10 and on: field, value, ...
-- Reply {"restored"} | {"known"} if the comment existed already | {"missing"} if the article or parent does not exist
local poster_slot = ARGV[9]
local number = ARGV[8]
local is_known = redis.call("EXISTS", KEY.comment .. number) == 1
if not is_known then redis.call("HSET", KEY.comment .. number, unpack(ARGV, 10)) end

local comment = find_comment(number)
local parent = comment.parent and find_comment(comment.parent)
local is_parent_here = not comment.parent or parent and parent.article == comment.article
local article_info = find_article_info(comment.article)
if not is_parent_here or not article_info then
  redis.call("DEL", comment.hash, KEY.voted .. number, KEY.downvoted .. number)
  return {"missing"}
end

local open_for = comment.time + window - now -- milliseconds in which voting is still open
for _, voters in ipairs({KEY.voted .. number, KEY.downvoted .. number}) do
  if open_for < 0 then redis.call("DEL", voters) else redis.call("PEXPIRE", voters, open_for + GRACE) end
end
if is_known then return {"known"} end

redis.call("HSET", comment.hash, "depth", parent and parent.depth + 1 or 0)
if poster_slot ~= "" then redis.call("HSET", comment.hash, "slot", poster_slot) end
add_to_tree(comment, parent and parent.path or ARTICLE_PATH)
update_replies(comment)
comment = find_comment(number)
if comment.state then
  redis.call("ZADD", KEY.stubs .. comment.article, 0, tree_member(comment.path, number))
  set_place(comment, false) -- it gets one back with its first visible descendant
  queue_pending(comment, article_info.groups)
else
  count_comment(comment, 1)
end
-- `away` says that it is out of lists and inboxes, as its article is not visible
if article_info.state and comment.state ~= "deleted" then redis.call("HSET", comment.hash, "away", "1") end
update_places(comment.parent, math.huge)
return {"restored"}
