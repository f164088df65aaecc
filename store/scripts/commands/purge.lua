-- Remove an article or a comment for good, if the actor is an admin: its text is replaced, and the entries of the log
-- that have it are removed. It cannot be approved any more. The new entry has all that the database needs of it.
-- requires: article_states, comment_states, decisions, roles
-- from prelude: find_article(number) -> fields by name | nil, split(text) -> {word, ...},
--   append_log(kind, actor, subject, ...) -> entry id, publish(kind, number, name, id, ...)
-- from flags: drop_flags(number)
-- from slots: SLOTS (how many slots there are, as in store/keys.py)
-- from notifications: note_effects(id, slots) -> {partition, entry id, ...}, slots_of(notified, ...) -> {slot, ...}
-- from article_states: set_state(article, state, actor, rule)
-- from comments: find_comment(number) -> fields by name | nil,
--   find_article_info(number) -> {poster, time, state, locked, groups} | nil, note_written(article)
-- from comment_states: set_comment_state(comment, state, actor, limit, rule) -> {entry id, effects, state, poster, ...}
-- from actions: standing_action(subject, kinds, wanted) -> (number, kind) | nil,
--   action_reply(status, number) -> {status, number | "", {field, value, ...}},
--   notified_user(username, slot, moderator) -> moderation:NAME:SLOT:TIME | "",
--   record_action(slot, kind, subject, moderator, fields) -> (number, entry id)
-- from roles: authority() -> (username, words of roles), is_admin(roles)
-- flags: allow-oom
-- replies kept in case the call is sent again, by status: changed
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       logged: ids of the log's entries with texts, by number or user
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 the actor's roles, in words such as moderator:GROUP=TIME   8 number of partitions: a slot, one of 1,024, decides
--       in which of them a user, an article or another thing with a number is
--       9 number of the article or comment   10 reason   11 the text in the place of the old one
--       12 how many comments above a comment get or lose their places in the thread at most
-- Reply {"changed" or, if it was purged before, "same", number of the action, {field, value, ...}, what
--       `set_comment_state` returns, or {}, {id of the action's entry in the log, {another partition whose
--       users this concerns, id of the last earlier entry for it, or "", ...}, moderation:NAME:SLOT:TIME of whom it
--       notifies}, or {}} | {"missing"} | {"refused"}
-- The body is a function, as a script has at most 200 local names outside of functions.
local function purge()
  local admin, roles = authority()
  if not is_admin(roles) then return {"refused"} end
  local number, purged = ARGV[9], ARGV[11]
  local article = find_article(number)
  local comment = not article and find_comment(number)
  local text = article or comment
  if not text or text.state == "deleted" or comment and not find_article_info(comment.article) then return {"missing"} end

  local type = article and "article" or "comment"
  local subject, hash = type .. ":" .. number, (article and KEY.article or KEY.comment) .. number
  local known = standing_action(subject, "purge")
  local reply = action_reply(known and "same" or "changed", known)
  reply[4], reply[5] = {}, {}
  if known then return reply end

  -- The poster of a comment, as moderation:NAME:SLOT:TIME. Their partition, which has their inbox, may be another one.
  local notifies = comment and notified_user(comment.poster, comment.slot, admin)
  local action, id = record_action(number % SLOTS, "purge", subject, admin, {
    reason = ARGV[10], before = text.state or "", notified = notifies or nil,
  })
  if comment then reply[5] = {id, note_effects(id, slots_of(notifies)), notifies} end

  local function remove_entries()
    local with_texts = redis.call("HGET", KEY.logged, number) or ""
    for _, entry in ipairs(split(with_texts)) do redis.call("XDEL", KEY.log, entry) end
    redis.call("HDEL", KEY.logged, number)
    return with_texts
  end

  local function log_purge(...)
    local entry = append_log(
      "purged", admin, subject, "poster", text.poster, "time", text.time, "up", text.up, "down", text.down,
      "imported", text.imported or 0, "edited", text.edited or "", "text", purged, "entries", remove_entries(), ...
    )
    publish("purged", 0, admin, entry) -- 0: no subscription needs the number of what is purged
  end

  if article then
    if article.state ~= "removed" then set_state(article, "removed", admin) end -- an edit that waits is dropped, too
    redis.call("HSET", hash, "title", purged)
    redis.call("HDEL", hash, "link", "link_digest", "content", "held_by")
    log_purge("groups", table.concat(article.groups, " "), "locked", article.locked or "")
  else
    if comment.state ~= "removed" then reply[4] = set_comment_state(comment, "removed", admin, tonumber(ARGV[12])) end
    redis.call("HSET", hash, "content", purged)
    redis.call("HDEL", hash, "held_by")
    note_written(comment.article)
    log_purge("article", comment.article, "parent", comment.parent or "", "depth", comment.depth)
  end
  drop_flags(number)
  reply[2], reply[3] = action, redis.call("HGETALL", KEY.action .. action)
  return reply
end
return purge()
