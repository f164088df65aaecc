-- Post a comment: hash, indexes of its siblings, tree, counts and the poster's own vote, in one step.
-- requires: article_indexes, comment_states, comment_tree, idempotency, log_text
-- from prelude: actor() -> username | false, require_not_banned(groups), now (unix milliseconds)
-- from slots: SLOTS (how many slots there are, as in store/keys.py)
-- from numbers: next_number(slot) -> text
-- from article_indexes: add_voters(article, voters)
-- from notifications: newly_notified(poster, before, answered, most, mentioned) -> KIND:NAME:SLOT:TIME ...,
--   add_notified(hash, before, notified), is_here(slot), note_effects(id, slots) -> {partition, entry id, ...},
--   slots_of(notified, ...) -> {slot, ...}, notify_here(notified, type, number, poster)
-- from comments: find_comment(number) -> fields by name | nil,
--   find_article_info(number) -> {poster, time, state, locked, groups} | nil, ARTICLE_PATH (the branch path of any article),
--   update_replies(comment, before), count_comment(comment, change) -> groups,
--   publish_comment(kind, comment, id, groups, channel), comment_hash(number) -> {field, value, ...}
-- from comment_tree: add_to_tree(comment, parent_path)
-- from comment_states: set_comment_state(comment, state, actor, limit, rule) -> {entry id, effects, state, poster, ...}
-- from idempotency: repeated_reply(prefix, poster, first, status, find) -> reply | nil, note_posted(prefix, first, number)
-- from log_text: append_text(kind, actor, type, number, ...) -> entry id
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       commented: number of a comment by its idempotency digest
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of partitions   8 number of the article   9 number of the parent comment, or ""   10 content
--       11 slot of the poster (one of 1,024; it decides their partition)
--       12-16 for idempotency.lua, so that a call which is repeated posts once: 12 digest of the idempotency key, 13 of
--       the input, 14 for how long it counts as repeated, 15 how long that is stored (milliseconds), 16 "keyed" or ""
--       17 what the rules of the site say: "hold" and the name of a rule (it is pending, and announced when a
--       moderator approves it), "refuse", or ""
--       18 how many comments above one that is held lose their places in the thread at most
--       19 when the oldest article was posted that takes comments (unix milliseconds), or ""
--       20 how many mentions notify at most
--       21 from here on: each user whom the content mentions, as username in lower case, then slot
-- Reply {"commented", number, {field, value, ...}, poster, id of the log's entry, {another partition whose
--       users this concerns, id of the last earlier entry for it, or "", ...}, KIND:NAME:SLOT:TIME of each user whom it
--       notifies, and if it is held the list that `set_comment_state` returns, for other partitions, else {}}
--       | {"replayed", number, {field, value, ...}, poster} if this was posted before; without fields if the key was
--       used and the comment was deleted | {"mismatch"} if the key was used with other input | {"unauthenticated"}
--       | {"missing" or "hidden", "article" or "parent"}, hidden if its state is not visible | {"locked"} | {"old"}
--       | {"broken"} if the rules refuse it
local parent_number, content, poster_slot, verdict, oldest = ARGV[9], ARGV[10], ARGV[11], ARGV[17], ARGV[19]
local poster = actor()
if not poster then return {"unauthenticated"} end

local commented = KEY.commented .. string.lower(poster) .. ":"
local IDEMPOTENCY = 12 -- place in ARGV of the first argument for idempotency.lua
local repeated = repeated_reply(commented, poster, IDEMPOTENCY, "commented", function(number)
  local comment = find_comment(number)
  return comment and comment.state ~= "deleted" and comment.flat or {}
end)
if repeated then return repeated end

local article_number, article_info = ARGV[8], find_article_info(ARGV[8])
if not article_info then return {"missing", "article"} end
require_not_banned(article_info.groups)
local parent = parent_number ~= "" and find_comment(parent_number) or nil
local is_answerable = parent and parent.article == article_number and parent.state ~= "deleted"
if parent_number ~= "" and not is_answerable then return {"missing", "parent"} end
if article_info.state then return {"hidden", "article"} end
if parent and parent.state then return {"hidden", "parent"} end
if article_info.locked == "1" then return {"locked"} end
if oldest ~= "" and article_info.time < tonumber(oldest) then return {"old"} end
if verdict == "refuse" then return {"broken"} end

local number = next_number(article_number % SLOTS) -- with the slot of the article
local answered = parent or {poster = article_info.poster, slot = article_number % SLOTS}
local before, most_mentions, mentioned = "", ARGV[20], {unpack(ARGV, 21)} -- `before`: no earlier versions
local notified = newly_notified(poster, before, answered, most_mentions, mentioned)
local comment = {
  number = number, member = string.format("%016.0f", tonumber(number)), article = article_number,
  parent = parent and parent.number, poster = poster, time = now, up = 1, down = 0,
}
local depth = parent and parent.depth + 1 or 0
redis.call("HSET", KEY.comment .. number, "article", article_number, "depth", depth, "poster", poster, "slot", poster_slot,
  "content", content, "time", now, "up", 1, "down", 0)
if parent then redis.call("HSET", KEY.comment .. number, "parent", parent.number) end
add_notified(KEY.comment .. number, nil, notified)
add_to_tree(comment, parent and parent.path or ARTICLE_PATH)
update_replies(comment)
local groups = count_comment(comment, 1)
add_voters(comment, {poster})
if is_here(poster_slot) then redis.call("ZADD", KEY.comments .. string.lower(poster), now, comment.member) end
note_posted(commented, IDEMPOTENCY, number)
local held_by = string.match(verdict, "^hold (.+)$")
local told = held_by and "" or notified
local id = append_text("commented", poster, "comment", number,
  "article", article_number, "parent", comment.parent or "", "depth", depth, "content", content, "time", now,
  "up", 1, "down", 0, "notified", notified, unpack(held_by and {"told", ""} or {}) -- `told`: whom it notifies now
)
local effects, state_change = note_effects(id, slots_of(told, poster_slot)), {}
if held_by then
  redis.call("HSET", KEY.comment .. number, "unannounced", "1", "held_by", held_by)
  state_change = set_comment_state(find_comment(number), "pending", poster, tonumber(ARGV[18]))
else
  notify_here(notified, "comment", number, poster)
  publish_comment("commented", comment, id, groups)
end
return {"commented", number, comment_hash(number), poster, id, effects, told, state_change}
