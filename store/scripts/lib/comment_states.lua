-- Functions that change whether comments are shown, by their own state and by that of their article.
-- requires: comment_removal, flag_decisions
-- from prelude: append_log(kind, actor, subject, ...) -> entry id
-- from flags: queue_flagged(number, is_visible)
-- from branch_paths: tree_member(path, number) -> LABEL NUMBER
-- from notifications: notified_now(notified) -> KIND:NAME:SLOT:TIME ..., is_here(slot),
--   notify_here(notified, type, number, poster), put_back_here(notified, type, number, poster),
--   remove_notifications_here(notified, type, number), note_effects(id, slots) -> {partition, entry id, ...},
--   slots_of(notified, ...) -> {slot, ...}
-- from comments: is_listed(comment), karma_of_comment(comment) -> number,
--   find_article_info(number) -> {poster, time, state, locked, groups} | nil, note_written(article),
--   count_comment(comment, change) -> groups, add_comment_karma(comment, votes),
--   publish_comment(kind, comment, id, groups, channel)
-- from held_edits: drop_edit(number, state, groups)
-- from pending_comments: queue_pending(comment, groups)
-- from comment_removal: update_places(number, limit) -> (removed numbers, next number | nil)
-- from flag_decisions: decide_flags(number, is_removed)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       unlisted: a user's comments that are hidden, or whose article is
--       heldcomments: a user's pending and removed comments   stubs: those comments of a tree that are not visible

-- Whether a comment is to be announced to subscribers, as it was held when it was posted and is shown now for the first
-- time. Its field `notified` then gets this time.
local function is_first_shown(comment)
  if not comment.unannounced or not is_listed(comment) then return false end
  redis.call("HDEL", comment.hash, "unannounced")
  comment.unannounced, comment.notified = nil, comment.notified and notified_now(comment.notified)
  if comment.notified then redis.call("HSET", comment.hash, "notified", comment.notified) end
  return true
end

-- Adds a comment to its poster's list and to inboxes of this partition, or takes it out of them. Returns whether it is to be
-- announced: then those whom it notifies here are told.
local function list_here(comment)
  local poster = string.lower(comment.poster)
  local list, other = KEY.comments, KEY.unlisted
  if not is_listed(comment) then list, other = other, list end
  if is_here(comment.slot) then
    redis.call("ZADD", list .. poster, comment.time, comment.member)
    redis.call("ZREM", other .. poster, comment.member)
    if comment.state then
      redis.call("ZADD", KEY.heldcomments .. poster, comment.time, comment.member)
    else
      redis.call("ZREM", KEY.heldcomments .. poster, comment.member)
    end
  end
  local is_new = is_first_shown(comment)
  local change_inboxes = is_new and notify_here or is_listed(comment) and put_back_here or remove_notifications_here
  change_inboxes(comment.notified or "", "comment", comment.number, comment.poster)
  return is_new
end

-- Writes the state: "pending", "removed", or nil for a visible comment; and the rule that holds it again, or nil.
local function write_state(comment, state, rule)
  local member = tree_member(comment.path, comment.number)
  comment.state = state
  if state then
    redis.call("HSET", comment.hash, "state", state, unpack(rule and {"held_by", rule} or {}))
    redis.call("ZADD", KEY.stubs .. comment.article, 0, member)
  else
    redis.call("HDEL", comment.hash, "state", "held_by")
    redis.call("ZREM", KEY.stubs .. comment.article, member)
  end
end

-- Sets the state of a comment that is not deleted: "pending", "removed", or nil for a visible one. It leaves the
-- threads, lists and counts that have it, or comes back to the places that it would have had. The comments below it stay
-- where they are; at most `limit` above it get or lose their places with it. `rule` is nil, or the one that holds it again,
-- as its approval is reverted. Returns {id of the log's entry, what `note_effects` returns (the partitions in which the entry
-- has effects), state, poster, posting time, change of the poster's karma, 1 or "" for whether it is listed, whom it has
-- notified ("" if it is as listed as before), number of the next comment for `update_places`, or "", 1 or "" for whether it
-- is announced now}.
local function set_comment_state(comment, state, actor, limit, rule) --> {entry id, effects, state, poster, ...}
  local was_removed = comment.state == "removed"
  local was_visible, was_listed, karma = not comment.state, is_listed(comment), karma_of_comment(comment)
  write_state(comment, state, rule)
  queue_flagged(comment.number, is_listed(comment))
  local article_info = find_article_info(comment.article)
  if article_info then note_written(comment.article) end
  local article_groups = article_info and article_info.groups or {}
  if state == "removed" then drop_edit(comment.number, state, article_groups) end
  queue_pending(comment, article_groups)
  if was_removed ~= (state == "removed") then decide_flags(comment.number, not was_removed) end
  local groups = {} -- whose listings the change concerns
  if was_visible ~= not state then groups = count_comment(comment, state and -1 or 1) end
  local _, next_number = update_places(comment.number, limit)
  local announced = list_here(comment) and "1" or ""
  karma = karma_of_comment(comment) - karma
  if karma ~= 0 and is_here(comment.slot) then add_comment_karma(comment, karma) end

  local is_now_listed = is_listed(comment)
  local notified = is_now_listed ~= was_listed and comment.notified or ""
  local listed = is_now_listed and "1" or ""
  local id = append_log(
    "comment_state_changed", actor, "comment:" .. comment.number, "article", comment.article,
    "state", state or "visible", "poster", comment.poster, "time", comment.time, "karma", karma, "listed", listed,
    "notified", notified, unpack(announced ~= "" and {"announced", announced} or {})
  )
  publish_comment("comment_state_changed", comment, id, groups)
  if announced ~= "" then publish_comment("comment_announced", comment, id, article_info.groups) end
  local effects, time = note_effects(id, slots_of(notified, comment.slot)), string.format("%.0f", comment.time)
  return {id, effects, state or "visible", comment.poster, time, karma, listed, notified, next_number or "", announced}
end
