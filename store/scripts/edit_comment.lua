-- Change the content of a comment, if the actor is its poster.
-- KEYS  see comments.lua
-- ARGV  1-7 see comments.lua   8 number   9 content   10 how many mentions of a comment notify at most
--       11 from here on: each user whom the content mentions, as username in lower case, then slot
-- Reply {"edited", {field, value, ...}, id of the entry, what `note_effects` returns, `notified` of this edit}
--       | {"missing"} | {"forbidden"} | {"unauthenticated"}
local editor = actor()
if not editor then return {"unauthenticated"} end

local comment = find_comment(ARGV[8])
if not comment or comment.state == "deleted" or not find_home(comment.article) then return {"missing"} end
if comment.poster ~= editor then return {"forbidden"} end

local notified = newly_notified(editor, comment.notified, nil, ARGV[10], 11)
redis.call("HSET", comment.hash, "content", ARGV[9], "edited", now)
add_notified(comment.hash, comment.notified, notified)
local id = append_text("comment_edited", editor, "comment", comment.number,
  "article", comment.article, "content", ARGV[9], "edited", now, "notified", notified
)
notify_here(notified, "comment", comment.number)
publish_comment("comment_edited", comment, id)
return {"edited", comment_hash(comment.number), id, note_effects(id, slots_of(notified)), notified}
