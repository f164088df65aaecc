-- Delete a comment, if the actor is its poster. While it has replies, a stub without content and poster is left. A stub
-- whose last reply goes is removed, too. A comment that was not visible is in no count, so its deletion changes none.
-- requires: comment_removal
-- from prelude: actor() -> username | false
-- from annulled: forget_annulled(number)
-- from branch_paths: tree_member(path, number) -> LABEL NUMBER
-- from comments: find_comment(number) -> fields by name | nil,
--   find_article_info(number) -> {poster, time, state, locked, groups} | nil, note_written(article),
--   count_comment(comment, change) -> groups, note_deleted(number, id)
-- from comment_removal: has_descendants(comment), drop_comment(comment),
--   update_places(number, limit) -> (removed numbers, next number | nil),
--   log_removal(comment, deleter, stub, removed, groups) -> (entry id, effects, change of karma)
-- flags: allow-oom
-- replies kept in case the call is sent again, by status: deleted
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       stubs: those comments of a tree that are not visible
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of partitions   8 number of the comment
--       9 how many stubs above it to change at most, as the script blocks the server
-- Reply {"deleted", id of the log's entry, {another partition whose users this concerns, id of the last earlier entry
--       for it, or "", ...}, poster, change of the poster's karma, KIND:NAME:SLOT:TIME of each user whom the comment
--       had notified, number of the next stub to be removed, or ""} | {"missing"} | {"forbidden"} | {"unauthenticated"}
local deleter = actor()
if not deleter then return {"unauthenticated"} end

local comment = find_comment(ARGV[8])
if not comment or comment.state == "deleted" or not find_article_info(comment.article) then return {"missing"} end
if comment.poster ~= deleter then return {"forbidden"} end

local function leave_stub()
  redis.call("HSET", comment.hash, "state", "deleted")
  redis.call("HDEL", comment.hash, "poster", "slot", "content", "edited", "notified", "imported", "away",
    "unannounced", "held_by")
  redis.call("DEL", KEY.voted .. comment.number, KEY.downvoted .. comment.number)
  forget_annulled(comment.number)
  redis.call("ZADD", KEY.stubs .. comment.article, 0, tree_member(comment.path, comment.number))
end

note_written(comment.article)
local is_stub = has_descendants(comment)
if is_stub then leave_stub() else drop_comment(comment) end
local groups = not comment.state and count_comment(comment, -1) or {}
local removed, next_stub = update_places(is_stub and comment.number or comment.parent, tonumber(ARGV[9]))
local id, effects, karma = log_removal(comment, deleter, is_stub and "1" or "", table.concat(removed, " "), groups)
note_deleted(comment.number, id)
return {"deleted", id, effects, comment.poster, karma, comment.notified or "", next_stub or ""}
