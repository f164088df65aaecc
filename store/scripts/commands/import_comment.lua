-- Import a comment of another site with its own posting time, once. What it answers has to be imported before. The poster
-- is a known voter while voting is open; all other votes are counted without a voter. Nobody is notified.
-- requires: article_indexes, comment_removal, log_text
-- from prelude: require_writable(), append_log(kind, actor, subject, ...) -> entry id, now (unix milliseconds)
-- from slots: SLOTS (how many slots there are, as in store/keys.py)
-- from article_indexes: story_number(time, slot) -> number, add_voters(article, voters)
-- from branch_paths: tree_member(path, number) -> LABEL NUMBER
-- from notifications: is_here(slot), note_effects(id, slots) -> {partition, entry id, ...}
-- from comments: find_comment(number) -> fields by name | nil,
--   find_article_info(number) -> {poster, time, state, locked, groups} | nil, note_written(article),
--   ARTICLE_PATH (the branch path of any article), update_replies(comment, before),
--   publish_comment(kind, comment, id, groups, channel), count_comment(comment, change) -> groups,
--   add_comment_karma(comment, votes)
-- from comment_tree: add_to_tree(comment, parent_path)
-- from comment_removal: update_places(number, limit) -> (removed numbers, next number | nil)
-- from log_text: append_text(kind, actor, type, number, ...) -> entry id
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       imported: numbers of imported stories and comments, by foreign id
--       stubs: those comments of a tree that are not visible
--       removing: articles and comments still to be removed or to enter or leave lists, in steps
-- ARGV  1-2 actor: the poster, or "" of a deleted comment, which becomes a stub   3 now (unix milliseconds)
--       4-6 settings of ranking and voting, for prelude.lua   7 number of partitions
--       8 id of the comment on the other site   9 id of what it answers there   10 content
--       11 slot of the poster (one of 1,024; it decides their partition), or ""   12 posting time (unix milliseconds)
--       13 votes
-- Reply {"imported", number, id of the log's entry, {another partition whose users this concerns, id of the last
--       earlier entry for it, or "", ...}} | {"known", number} if it was imported before
--       | {"missing"} if what it answers was not imported | {"gone", number of the article} if that was deleted
local foreign_id, answered_foreign_id, content, poster_slot = ARGV[8], ARGV[9], ARGV[10], ARGV[11]
local STUBS_AT_ONCE = 500 -- stubs above the comment that get places in the thread with it; others get them a moment later
require_writable()
local known = redis.call("HGET", KEY.imported, foreign_id)
if known then return {"known", known} end

local answered = redis.call("HGET", KEY.imported, answered_foreign_id)
if not answered then return {"missing"} end
local parent = find_comment(answered)
local article_number = parent and parent.article or answered
local article_info = find_article_info(article_number)
if not article_info then return {"gone", article_number} end

local poster, time, up = ARGV[1], tonumber(ARGV[12]), tonumber(ARGV[13])
local is_stub = poster == ""
local number = story_number(time, article_number % SLOTS)
local comment = {
  number = number, member = string.format("%016.0f", tonumber(number)), article = article_number,
  parent = parent and parent.number, poster = is_stub and "-" or poster, time = time, up = up, down = 0,
}
local depth, imported = parent and parent.depth + 1 or 0, is_stub and 0 or up - 1
local hash = KEY.comment .. number
redis.call("HSET", hash, "article", article_number, "depth", depth, "time", time, "up", up, "down", 0)
if parent then redis.call("HSET", hash, "parent", parent.number) end
if is_stub then redis.call("HSET", hash, "state", "deleted") end
if not is_stub then redis.call("HSET", hash, "poster", poster, "slot", poster_slot, "content", content) end
if imported > 0 then redis.call("HSET", hash, "imported", imported) end
note_written(article_number) -- its time may be old: else the article might be archived before the next comment comes
add_to_tree(comment, parent and parent.path or ARTICLE_PATH)
update_replies(comment)
redis.call("HSET", KEY.imported, foreign_id, number)

local values = {
  "parent", comment.parent or "", "depth", depth, "content", content, "time", time, "up", up, "down", 0,
  "imported", imported, "voters", poster, "state", is_stub and "deleted" or "", "story", foreign_id,
}
if is_stub then
  redis.call("ZADD", KEY.stubs .. article_number, 0, tree_member(find_comment(number).path, number))
  local id = append_log("comment_imported", "", "comment:" .. number, "article", article_number, unpack(values))
  publish_comment("comment_imported", comment, id)
  return {"imported", number, id, {}}
end

local groups = count_comment(comment, 1)
update_places(comment.parent, STUBS_AT_ONCE)
if article_info.state then redis.call("ZADD", KEY.removing, now, article_number) end -- it leaves the lists as the others did
add_voters(comment, {poster})
if is_here(poster_slot) then
  redis.call("ZADD", KEY.comments .. string.lower(poster), time, comment.member)
  if imported > 0 then add_comment_karma(comment, imported) end
end
local id = append_text("comment_imported", poster, "comment", number, "article", article_number, unpack(values))
publish_comment("comment_imported", comment, id, groups)
return {"imported", number, id, note_effects(id, {poster_slot})}
