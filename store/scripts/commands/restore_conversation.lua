-- Write some comments of an archived article back to Redis, without their entries in the lists of users, which have stayed
-- in Redis. Only reads by their numbers find them before unarchive.lua writes the article. Safe to repeat.
-- requires: comment_tree, recounts
-- from branch_paths: tree_member(path, number) -> LABEL NUMBER
-- from prelude: require_writable(), now (unix milliseconds)
-- from comments: find_comment(number) -> fields by name | nil, update_replies(comment, before)
-- from recounts: has_counts(number, position)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       lease: token of the process that does a task for all
--       moving: articles about to leave Redis or just back: what the database has of them does not count
--       left: archived articles whose comments Redis still has
--       woken: articles whose comments came back from the database   tree: an article's comments by branch path
--       stubs: those comments of a tree that are not visible
--       latest: an article's visible comments by time, if it has many
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of partitions   8 number of the article
--       9 token of the lease that one process at a time has for this task
--       10 1 if the article has so many comments that it needs `latest`, else 0   11 how many comments it has
--       12 how many comments all conversations that came back may have, or "" for any number
--       13 how many comments the conversations that came back in other partitions have
--       14 id of the last entry of the log that the database had read before the comments were read there
--       15 and on: for each comment its number, how many arguments follow for it, then field, value, ...
-- Reply {"restored"} | {"back"} if the article is in Redis, or was deleted there
--       | {"overtaken"} if another process has the lease | {"full"} if there is no room
--       | {"behind"} if the database did not have the last change of counts of the comments: read again later
require_writable()
local article, comment_count = ARGV[8], ARGV[11]
if redis.call("GET", KEY.lease .. "conversations") ~= ARGV[9] then return {"overtaken"} end
if redis.call("EXISTS", KEY.article .. article) + redis.call("SISMEMBER", KEY.moving, article) > 0 then return {"back"} end

-- No counts of these comments change once `left` has the article.
if not redis.call("ZSCORE", KEY.left, article) and not has_counts(article, ARGV[14]) then return {"behind"} end

-- Takes room for the comments in `woken`, until the conversation leaves again; false if there is too little. Where no other
-- conversation has come back, one of any length has room, unless the limit is 0.
local function takes_room()
  if redis.call("ZSCORE", KEY.woken, article) then return true end
  local woken, taken = redis.call("ZRANGE", KEY.woken, 0, -1, "WITHSCORES"), tonumber(ARGV[13]) or 0
  for i = 2, #woken, 2 do taken = taken + tonumber(woken[i]) end
  local most, needed = tonumber(ARGV[12]), tonumber(comment_count)
  if most and taken + needed > most and (taken > 0 or most == 0) then return false end
  redis.call("ZADD", KEY.woken, comment_count, article)
  return true
end

if not takes_room() then return {"full"} end
redis.call("ZADD", KEY.left, now, article) -- so its comments are removed again if the article is not written
local i = 15
while ARGV[i] do
  local number, count = ARGV[i], tonumber(ARGV[i + 1])
  redis.call("HSET", KEY.comment .. number, unpack(ARGV, i + 2, i + 1 + count))
  local comment = find_comment(number)
  local member = tree_member(comment.path, number)
  redis.call("ZADD", KEY.tree .. article, 0, member)
  if comment.state then redis.call("ZADD", KEY.stubs .. article, 0, member) end
  if not comment.bare then update_replies(comment) end -- `bare`: a thread has no place for it
  if ARGV[10] == "1" and not comment.state then redis.call("ZADD", KEY.latest .. article, comment.time, comment.member) end
  i = i + 2 + count
end
return {"restored"}
