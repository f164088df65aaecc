-- Change the content of a comment, if the actor is its poster. An edit that a rule of the site holds waits for a
-- moderator, and the comment stays as it is, unless the comment is pending already.
-- requires: comment_edits
-- from prelude: actor() -> username | false
-- from comments: find_comment(number) -> fields by name | nil,
--   find_article_info(number) -> {poster, time, state, locked, groups} | nil, note_written(article),
--   comment_hash(number) -> {field, value, ...}
-- from edits: hold_edit(subject, type, held_by, changes, link_digest, most, mentioned), replace_edit(subject, type)
-- from comment_edits: change_comment(comment, content, most, mentioned) -> (entry id, effects, notified)
-- replies kept in case the call is sent again, by status (part 2 of the reply is read anew): edited without part 2, held without part 2
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of partitions   8 number of the comment   9 content
--       10 what the rules of the site say of it: "hold" and the name of the rule, "refuse", or ""
--       11 how many mentions of a comment notify at most
--       12 from here on: each user whom the content mentions, as username in lower case, then slot (one of 1,024; it
--       decides their partition)
-- Reply {"edited" | "held", {field, value, ...}, id of the log's entry or "", {another partition whose users this
--       concerns, id of the last earlier entry for it, or "", ...}, KIND:NAME:SLOT:TIME of each user whom this edit
--       notifies}
--       | {"missing"} | {"forbidden"} | {"broken"} if the rules refuse it | {"hidden"} if it or its article was removed
--       | {"unauthenticated"}
local content, verdict, most_mentions = ARGV[9], ARGV[10], ARGV[11]
local editor = actor()
if not editor then return {"unauthenticated"} end

local comment = find_comment(ARGV[8])
local article_info = comment and comment.state ~= "deleted" and find_article_info(comment.article)
if not article_info then return {"missing"} end
if comment.poster ~= editor then return {"forbidden"} end
if comment.state == "removed" or article_info.state == "removed" then return {"hidden"} end
if verdict == "refuse" then return {"broken"} end

comment.groups = article_info.groups
local held_by, mentioned = string.match(verdict, "^hold (.+)$"), {unpack(ARGV, 12)}
if held_by and comment.state ~= "pending" then
  hold_edit(comment, "comment", held_by, {"content", content}, "", most_mentions, mentioned)
  note_written(comment.article)
  return {"held", comment_hash(comment.number), "", {}, ""}
end
if held_by then redis.call("HSET", comment.hash, "held_by", held_by) end
replace_edit(comment, "comment")
local id, effects, told = change_comment(comment, content, most_mentions, mentioned)
return {"edited", comment_hash(comment.number), id, effects, told}
