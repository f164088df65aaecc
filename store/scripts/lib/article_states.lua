-- Functions that change an article's state, its lock (a locked article takes no votes, comments or other groups) or its
-- groups.
-- requires: article_indexes, flag_decisions, held_edits, pending_comments, recent_comments
-- from prelude: append_log(kind, actor, subject, ...) -> entry id, publish_event(kind, article, groups, id, channel),
--   add_karma(article, votes), now (unix milliseconds)
-- from flags: queue_flagged(number, is_visible)
-- from article_indexes: karma_of(article) -> number, remove_from_indexes(article), add_to_indexes(article),
--   set_pending(article, since), remove_from_group(article, group), add_to_group(article, group)
-- from flag_decisions: decide_flags(number, is_removed)
-- from held_edits: drop_edit(number, state, groups), queue_edit(number, state, groups, groups_before),
--   requeue_edits(article, groups, groups_before)
-- from pending_comments: requeue_pending(article, groups, groups_before)
-- from recent_comments: recent.note(article, places), recent.places_of(groups)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       tree: an article's comments by branch path
--       removing: articles and comments still to be removed or to enter or leave lists, in steps

-- Logs and publishes the state and the lock of an article as they are now. `announced` is "1" if subscribers learn of it now for
-- the first time, as the event "posted" that follows says; else nil.
local function log_state(article, actor, announced) --> entry id
  local id = append_log(
    "state_changed", actor, "article:" .. article.number,
    "state", article.state or "visible", "locked", article.locked or "",
    "poster", article.poster, "groups", table.concat(article.groups, " "),
    unpack(announced and {"announced", announced} or {})
  )
  publish_event("state_changed", article, article.groups, id)
  return id
end

-- Announces an article that was held when it was posted, and is shown for the first time. Subscribers learn of it now; those
-- whom it notifies are told by update_lists.lua, which runs after this. The field `unannounced` says what is still to be
-- done: "all", or "notifications" once subscribers know. `id` is that of the log's entry.
local function announce_article(article, id)
  local hash, unannounced = KEY.article .. article.number, article.unannounced
  if not unannounced then return end
  if article.notified then
    redis.call("HSET", hash, "unannounced", "notifications")
  else
    redis.call("HDEL", hash, "unannounced")
  end
  if unannounced == "all" then publish_event("posted", article, article.groups, id) end
end

-- Sets the state of an article: "pending", "removed", or nil for a visible one. It leaves all indexes, or comes back to
-- the places that it would have had. `rule` is nil, or the one that holds it again, as its approval is reverted.
local function set_state(article, state, actor, rule)
  local karma, was_removed = karma_of(article), article.state == "removed"
  remove_from_indexes(article)
  article.state = state
  if state then
    redis.call("HSET", KEY.article .. article.number, "state", state, unpack(rule and {"held_by", rule} or {}))
  else
    redis.call("HDEL", KEY.article .. article.number, "state", "held_by")
  end
  if state == "removed" then drop_edit(article.number, state, article.groups) end
  add_to_indexes(article)
  queue_edit(article.number, state, article.groups)
  queue_flagged(article.number, not state)
  if was_removed ~= (state == "removed") then decide_flags(article.number, not was_removed) end
  if karma_of(article) ~= karma then add_karma(article, karma_of(article) - karma) end
  if redis.call("EXISTS", KEY.tree .. article.number) == 1 or article.notified then -- lists and inboxes have to change
    redis.call("ZADD", KEY.removing, now, article.number)
  end
  recent.note(article.number, recent.places_of(article.groups)) -- its comments enter or leave the recent ones there
  local id = log_state(article, actor, not state and article.unannounced == "all" and "1" or nil)
  if not state then announce_article(article, id) end
end

-- Locks an article, or unlocks it.
local function set_locked(article, is_locked, actor)
  article.locked = is_locked and "1" or nil
  if is_locked then
    redis.call("HSET", KEY.article .. article.number, "locked", "1")
  else
    redis.call("HDEL", KEY.article .. article.number, "locked")
  end
  log_state(article, actor)
end

-- Sets the groups of an article; `changed` is the one that was added or removed.
local function set_groups(article, groups, changed, actor)
  table.sort(groups)
  set_pending(article, nil)
  requeue_pending(article.number, groups, article.groups)
  requeue_edits(article, groups, article.groups)
  article.groups = groups
  set_pending(article, article.time)
  local names = table.concat(groups, " ")
  redis.call("HSET", KEY.article .. article.number, "groups", names)
  recent.note(article.number, {"group:" .. changed})
  local id = append_log(
    "regrouped", actor, "article:" .. article.number, "groups", names, "changed", changed, "poster", article.poster
  )
  publish_event("regrouped", article, {changed}, id)
end

local function take_out_of_group(article, group, actor)
  local others = {}
  for _, each in ipairs(article.groups) do if each ~= group then others[#others + 1] = each end end
  if not article.state then remove_from_group(article, group) end
  set_groups(article, others, group, actor)
end

local function put_back_in_group(article, group, actor)
  local groups = {group, unpack(article.groups)}
  if not article.state then add_to_group(article, group) end
  set_groups(article, groups, group, actor)
end
