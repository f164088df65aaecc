-- Take some comments of an article that is not visible out of lists and inboxes, or put those of a visible one back. Do the
-- same with the article itself. What is out of them has the field `away`. The caller repeats the script from the
-- beginning to the end of the tree, until a pass finds none to change: then the article is no longer noted in `removing`.
-- requires: comment_states
-- from prelude: require_writable(), append_log(kind, actor, subject, ...) -> entry id
-- from flags: is_flagged(number), queue_flagged(number, is_visible)
-- from notifications: slots_of(notified, ...) -> {slot, ...}, notified_now(notified) -> KIND:NAME:SLOT:TIME ...,
--   notify_here(notified, type, number, poster), remove_notifications_here(notified, type, number),
--   put_back_here(notified, type, number, poster), note_effects(id, slots) -> {partition, entry id, ...}
-- from comments: find_article_info(number) -> {poster, time, state, locked, groups} | nil,
--   find_comment(number) -> fields by name | nil, is_listed(comment), publish_comment(kind, comment, id, groups, channel)
-- from comment_states: list_here(comment)
-- flags: allow-oom
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       tree: an article's comments by branch path
--       removing: articles and comments still to be removed or to enter or leave lists, in steps
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of partitions   8 number of the article
--       9 "-", or the member of the tree after which to go on, after "("   10 how many comments to read
--       11 "1" if this pass has changed something, else ""
-- Reply {"done", 1 or 0 for whether the article was still noted} | {"missing"} if there is no such article
--       | {"more", where to go on, 11 of the next call, id of the log's entry or "", {another partition
--       whose users this concerns, id of the last earlier entry for it, or "", ...}, the poster of the article, its
--       changed comments (NUMBER:POSTER:TIME each), 1 or "" for whether they are listed now, whom they notify
--       (NUMBER:KIND:NAME:SLOT:TIME each), whom the article notifies (KIND:NAME:SLOT:TIME each), whom those comments
--       notify that are announced now, as they were never shown before, and 1 or "" for whether the article is}
local from_member, limit = ARGV[9], ARGV[10]
require_writable()
local article = ARGV[8]
local article_info = find_article_info(article)
if not article_info then return {"missing"} end

local members = redis.call("ZRANGEBYLEX", KEY.tree .. article, from_member, "+", "LIMIT", 0, limit)
local away = article_info.state and "1" or nil -- what the field `away` has to be
local changed = ARGV[11] -- "1" once this pass has changed something
-- Of comments that were changed: NUMBER:POSTER:TIME; whom they notify. Of those announced now: whom they notify; the records.
local words, notified, announced, new_comments = {}, {}, {}, {}
local slots = {} -- of all users whom this concerns

-- Notes a comment that was changed for the entry in the log and the reply.
local function note(comment, is_new)
  local notified_by = is_new and announced or notified
  if is_new then new_comments[#new_comments + 1] = comment end
  words[#words + 1] = table.concat({comment.number, comment.poster, string.format("%.0f", comment.time)}, ":")
  slots[#slots + 1] = comment.slot
  for word in string.gmatch(comment.notified or "", "%S+") do
    notified_by[#notified_by + 1] = comment.number .. ":" .. word
  end
  for _, slot in ipairs(slots_of(comment.notified)) do slots[#slots + 1] = slot end
end

for _, member in ipairs(members) do
  local comment = find_comment(string.match(member, " (%d+)$"))
  if comment and comment.state ~= "deleted" and comment.away ~= away then
    changed, comment.away = "1", away
    if away then redis.call("HSET", comment.hash, "away", "1") else redis.call("HDEL", comment.hash, "away") end
    if not comment.state then note(comment, list_here(comment)) end
    if is_flagged(comment.number) then queue_flagged(comment.number, is_listed(comment)) end
  end
end

-- Takes the article out of inboxes or puts it back, if it is not done yet. Returns whom it notifies, "" if nothing was to be
-- done, and 1 or "" for whether it is announced now.
local function change_article()
  local hash = KEY.article .. article
  local told, was_away, unannounced = unpack(redis.call("HMGET", hash, "notified", "away", "unannounced"))
  if not told or (was_away or nil) == away then return "", "" end
  changed = "1"
  if away then redis.call("HSET", hash, "away", "1") else redis.call("HDEL", hash, "away") end
  local is_new = not away and unannounced
  if is_new then
    told = notified_now(told)
    redis.call("HSET", hash, "notified", told)
    redis.call("HDEL", hash, "unannounced")
  end
  local change_inboxes = is_new and notify_here or away and remove_notifications_here or put_back_here
  change_inboxes(told, "article", article, redis.call("HGET", hash, "poster"))
  for _, slot in ipairs(slots_of(told)) do slots[#slots + 1] = slot end
  return told, is_new and "1" or ""
end

local of_article, is_announced = "", ""
if from_member == "-" then of_article, is_announced = change_article() end
local is_end = #members < tonumber(limit)
if is_end and changed == "" then
  return {"done", redis.call("ZREM", KEY.removing, article)}
end

local next = is_end and "-" or "(" .. members[#members]
if is_end then changed = "" end
if not words[1] and of_article == "" then return {"more", next, changed, "", {}, "", "", "", "", "", "", ""} end
local listed, comments, told = away and "" or "1", table.concat(words, " "), table.concat(notified, " ")
local new = table.concat(announced, " ")
local id = append_log(
  "comments_listed", "", "article:" .. article, "poster", article_info.poster, "comments", comments, "listed", listed,
  "notified", told, "of_article", of_article,
  unpack((new ~= "" or is_announced ~= "") and {"announced", new, "article_announced", is_announced} or {})
)
redis.call("PUBLISH", KEY.events, "comments_listed 0 - " .. id)
for _, comment in ipairs(new_comments) do publish_comment("comment_announced", comment, id, article_info.groups) end
local poster = article_info.poster
return {"more", next, changed, id, note_effects(id, slots), poster, comments, listed, told, of_article, new, is_announced}
