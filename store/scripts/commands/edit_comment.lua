-- Change the content of a comment, if the actor is its poster.
-- requires: comments, flags, log_text
-- ARGV  1-7 see comments.lua   8 number   9 content   10 what the rules of the site say of it: "hold" if it may stand only in
--       a comment that is pending already, "refuse", or ""   11 how many mentions of a comment notify at most
--       12 from here on: each user whom the content mentions, as username in lower case, then slot
-- Reply {"edited", {field, value, ...}, id of the entry, what `note_effects` returns, `notified` of this edit}
--       | {"missing"} | {"forbidden"} | {"broken"} if the rules refuse it | {"hidden"} if it or its article was removed | {"unauthenticated"}
local editor = actor()
if not editor then return {"unauthenticated"} end

local comment = find_comment(ARGV[8])
local home = comment and comment.state ~= "deleted" and find_home(comment.article)
if not home then return {"missing"} end
if comment.poster ~= editor then return {"forbidden"} end
if comment.state == "removed" or home.state == "removed" then return {"hidden"} end
if ARGV[10] == "refuse" or ARGV[10] == "hold" and comment.state ~= "pending" then return {"broken"} end

local notified = newly_notified(editor, comment.notified, nil, ARGV[11], 12)
redis.call("HSET", comment.hash, "content", ARGV[9], "edited", now)
add_notified(comment.hash, comment.notified, notified)
local told = is_listed(comment) and notified or "" -- others have it in their inboxes when it is shown again
forget_cleared_flags(comment.number)
local id = append_text("comment_edited", editor, "comment", comment.number,
  "article", comment.article, "content", ARGV[9], "edited", now, "notified", notified, "told", told
)
notify_here(told, "comment", comment.number, editor)
publish_comment("comment_edited", comment, id)
return {"edited", comment_hash(comment.number), id, note_effects(id, slots_of(told)), told}
