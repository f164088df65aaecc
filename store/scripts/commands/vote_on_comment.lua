-- Set the vote of one voter on a comment while voting is open.
-- requires: cast_vote, comments, upvoters
-- from prelude: actor() -> username | false, now (unix milliseconds), window (milliseconds in which votes are open),
--   require_not_banned(groups), append_log(kind, actor, subject, ...) -> entry id
-- from cast_vote: cast_vote(subject, voter, vote) -> (counts before, change) | (nil, reply),
--   counted_hash(subject) -> {field, value, ...}
-- from notifications: is_here(slot), note_effects(id, slots) -> {partition, entry id, ...}
-- from comments: find_comment(number) -> fields by name | nil,
--   find_article_info(number) -> {poster, time, state, locked, groups} | nil, keep_place(comment, lifetime, before),
--   note_move(comment, before), update_replies(comment, before), publish_comment(kind, comment, id, groups, channel),
--   add_comment_karma(comment, votes)
-- from upvoters: add_upvoter(account, voter)
-- replies kept in case the call is sent again, by status (part 3 of the reply is read anew): voted without part 3
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       voteevents: channel of votes
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of partitions   8 number of the comment   9 the vote: 1, 0 or -1
--       10 how long pages keep the place that the comment had before (milliseconds)
-- Reply {"voted", voter, {field, value, ...}, id of the log's entry, {another partition whose users this concerns, id
--       of the last earlier entry for it, or "", ...}, change of the votes} | {"same", voter, {field, value, ...}}
--       | {"missing"} | {"closed", when voting closed (unix milliseconds)} | {"locked"}
--       | {"hidden"} if the comment or its article is not visible
--       | {"forbidden"} if the poster would withdraw or reverse the first vote | {"unauthenticated"}
local voter = actor()
if not voter then return {"unauthenticated"} end

local comment = find_comment(ARGV[8])
local article_info = comment and comment.state ~= "deleted" and find_article_info(comment.article)
if not article_info then return {"missing"} end
-- Once voting is closed, banned users, too, are told that, as they are for an archived comment.
if now <= comment.time + window then require_not_banned(article_info.groups) end

comment.locked, comment.state = article_info.locked, comment.state or article_info.state -- `cast_vote` looks at both
local before, change = cast_vote(comment, voter, tonumber(ARGV[9])) -- sets `is_annulled` if the vote does not count
if not before then return change end -- nothing has changed: this is the reply that says why

keep_place(comment, ARGV[10], before)
note_move(comment, before)
redis.call("HSET", comment.hash, "up", comment.up, "down", comment.down)
update_replies(comment, before)
local id = append_log(
  "comment_voted", voter, "comment:" .. comment.number, "article", comment.article, "value", ARGV[9],
  "up", comment.up, "down", comment.down, "poster", comment.poster, "karma", change,
  unpack(comment.is_annulled and {"annulled", "1"} or {})
)
publish_comment("comment_voted", comment, id, {}, KEY.voteevents)
if is_here(comment.slot) then
  add_comment_karma(comment, change)
  if ARGV[9] == "1" and not comment.is_annulled then add_upvoter(KEY.user .. string.lower(comment.poster), voter) end
end
return {"voted", voter, counted_hash(comment), id, note_effects(id, {comment.slot}), change}
