-- Delete an article and everything derived from it, if the actor is its poster. Its number is not used again. Its comments
-- cannot be reached any more; `remove_thread.lua` removes them.
-- requires: annulled, appeals, article_indexes, comments, flags, pending_comments
-- from prelude: actor() -> username | false, find_article(number) -> fields by name | nil, add_karma(article, votes),
--   split(text) -> {word, ...}, append_log(kind, actor, subject, ...) -> entry id,
--   publish_event(kind, article, groups, id, channel), now (unix milliseconds)
-- from annulled: forget_annulled(number)
-- from flags: drop_flags(number)
-- from appeals: end_appeals(subject)
-- from article_indexes: remove_from_indexes(article), karma_of(article) -> number
-- from notifications: with_notified(notified, ...) -> field, value, ..., remove_notifications_here(notified, type, number),
--   note_effects(id, slots) -> {partition, entry id, ...}, slots_of(notified, ...) -> {slot, ...}
-- from comments: recent.remove_comments_of(article, groups), note_deleted(number, id)
-- from held_edits: drop_edit(number, state, groups), requeue_edits(article, groups, groups_before)
-- from pending_comments: requeue_pending(article, groups, groups_before)
-- flags: allow-oom
-- replies kept in case the call is sent again, by status: deleted
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       woken: articles whose comments came back from the database
--       latest: an article's visible comments by time, if it has many
--       logged: ids of the log's entries with texts, by number or user   tree: an article's comments by branch path
--       removing: articles and comments still to be removed or to enter or leave lists, in steps
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of partitions   8 number of the article
-- Reply {"deleted", 1 if there are comments to be removed, else 0, id of the entry of the log, {another partition whose
--       users this concerns, id of the last earlier entry for it, or "", ...}, KIND:NAME:SLOT:TIME of each user whom
--       the article had notified} | {"missing"} | {"forbidden"} | {"unauthenticated"}
local deleter = actor()
if not deleter then return {"unauthenticated"} end

local article = find_article(ARGV[8])
if not article then return {"missing"} end
if article.poster ~= deleter then return {"forbidden"} end

remove_from_indexes(article)
add_karma(article, -karma_of(article))
redis.call("DEL", KEY.article .. article.number, KEY.voted .. article.number, KEY.downvoted .. article.number)
redis.call("ZREM", KEY.woken, article.number)
forget_annulled(article.number)
end_appeals("article:" .. article.number)
requeue_pending(article.number, nil, article.groups) -- nil: its comments wait nowhere any more
recent.remove_comments_of(article.number, article.groups)
drop_edit(article.number, article.state, article.groups)
requeue_edits(article, {}, article.groups)
redis.call("UNLINK", KEY.latest .. article.number)
drop_flags(article.number)

local with_texts = redis.call("HGET", KEY.logged, article.number) or ""
for _, entry in ipairs(split(with_texts)) do redis.call("XDEL", KEY.log, entry) end
redis.call("HDEL", KEY.logged, article.number)
local id = append_log(
  "deleted", deleter, "article:" .. article.number,
  with_notified(article.notified, "poster", article.poster, "groups", table.concat(article.groups, " "),
    "entries", with_texts)
)
note_deleted(article.number, id)
remove_notifications_here(article.notified, "article", article.number)
publish_event("deleted", article, article.groups, id)
local has_comments = redis.call("EXISTS", KEY.tree .. article.number)
if has_comments == 1 then redis.call("ZADD", KEY.removing, now, article.number) end
return {"deleted", has_comments, id, note_effects(id, slots_of(article.notified)), article.notified or ""}
