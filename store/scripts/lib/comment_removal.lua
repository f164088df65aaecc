-- Functions that delete comments, and that give places in threads to comments which are not visible. A deleted comment
-- that has replies stays as a stub, without its text and poster.
-- requires: annulled, appeals, comment_tree, flags, pending_comments
-- from prelude: now (unix milliseconds), split(text) -> {word, ...}, append_log(kind, actor, subject, ...) -> entry id
-- from annulled: forget_annulled(number)
-- from flags: drop_flags(number), set_waiting(queue, number, since, groups, groups_before)
-- from appeals: end_appeals(subject)
-- from branch_paths: descendants_of(path) -> (from, to), count_descendants(tree, stubs, path) -> number
-- from notifications: is_here(slot), remove_notifications_here(notified, type, number),
--   note_effects(id, slots) -> {partition, entry id, ...}, slots_of(notified, ...) -> {slot, ...}
-- from comments: remove_from_replies(comment), pins_of(article) -> {ORDER:MOVES, ...}, update_replies(comment, before),
--   find_comment(number) -> fields by name | nil, karma_of_comment(comment) -> number, add_comment_karma(comment, votes),
--   find_article_info(number) -> {poster, time, state, locked, groups} | nil,
--   publish_comment(kind, comment, id, groups, channel)
-- from comment_tree: remove_from_tree(comment)
-- from held_edits: drop_edit(number, state, groups)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       pinned: values that comments had at a pin   moved: the last moves of an article's comments
--       tree: an article's comments by branch path   stubs: those comments of a tree that are not visible
--       removing: articles and comments still to be removed or to enter or leave lists, in steps
--       logged: ids of the log's entries with texts, by number or user
--       unlisted: a user's comments that are hidden, or whose article is
--       heldcomments: a user's pending and removed comments

-- Removes a comment without descendants: hash, voters, entries of all indexes.
local function drop_comment(comment)
  remove_from_replies(comment)
  for _, pin in ipairs(pins_of(comment.article)) do
    redis.call("ZREM", KEY.pinned .. (comment.parent or comment.article) .. ":" .. pin, comment.member)
  end
  redis.call("HDEL", KEY.moved .. comment.article, comment.number)
  remove_from_tree(comment)
  redis.call("DEL", comment.hash, KEY.voted .. comment.number, KEY.downvoted .. comment.number)
  forget_annulled(comment.number)
end

local function has_descendants(comment)
  return redis.call("ZLEXCOUNT", KEY.tree .. comment.article, descendants_of(comment.path)) > 0
end

-- Whether a thread has a place for a comment: it is visible, or it has visible descendants.
local function has_place(comment)
  if not comment.state then return true end
  return count_descendants(KEY.tree .. comment.article, KEY.stubs .. comment.article, comment.path) > 0
end

-- Gives a comment its place in the thread, or takes it. The field `bare` says that it has none.
local function set_place(comment, is_placed)
  if is_placed then
    redis.call("HDEL", comment.hash, "bare")
    update_replies(comment)
  else
    redis.call("HSET", comment.hash, "bare", "1")
    remove_from_replies(comment)
  end
end

-- Updates a comment and its ancestors, at most `limit`, after a change below. A hidden one that has visible descendants now
-- gets a place in the thread, one that has none any more loses it, and a deleted one without replies is removed. If more
-- than `limit` are to be updated, the next one is noted in `removing`. Returns the numbers of the removed ones, and the
-- number of the next one.
local function update_places(number, limit) --> (removed numbers, next number | nil)
  local removed, count = {}, 0
  while number do
    local comment = find_comment(number)
    if not comment then return removed end
    local is_empty, is_placed = comment.state == "deleted" and not has_descendants(comment), has_place(comment)
    if not is_empty and is_placed == not comment.bare then return removed end -- nor does anything change above it
    if count == limit then
      redis.call("ZADD", KEY.removing, now, number)
      return removed, number
    end
    if is_empty then
      drop_comment(comment)
      removed[#removed + 1] = number
    else
      set_place(comment, is_placed)
    end
    count, number = count + 1, comment.parent
  end
  return removed
end

-- Removes the texts of a comment from the log, and returns the ids of their entries.
local function remove_texts(comment)
  local with_texts = redis.call("HGET", KEY.logged, comment.number) or ""
  for _, entry in ipairs(split(with_texts)) do redis.call("XDEL", KEY.log, entry) end
  redis.call("HDEL", KEY.logged, comment.number)
  return with_texts
end

-- Takes a comment out of its poster's list and karma, out of inboxes and of queues, and logs its deletion. `stub` is
-- "1" if a stub is left, else ""; `removed` has the numbers of the stubs that go with it, separated by spaces; `groups`
-- are those whose listings it concerns. Returns the id of the entry, what `note_effects` returns (the partitions in which
-- it has effects), and the change of the poster's karma.
local function log_removal(comment, deleter, stub, removed, groups) --> (entry id, effects, change of karma)
  local karma = -karma_of_comment(comment)
  if is_here(comment.slot) then
    for _, list in ipairs({KEY.comments, KEY.unlisted, KEY.heldcomments}) do
      redis.call("ZREM", list .. string.lower(comment.poster), comment.member)
    end
    add_comment_karma(comment, karma)
  end
  remove_notifications_here(comment.notified, "comment", comment.number)
  drop_flags(comment.number)
  local article_info = find_article_info(comment.article)
  local article_groups = article_info and article_info.groups or {}
  drop_edit(comment.number, comment.state, article_groups)
  if comment.state == "pending" then set_waiting("pending", comment.number, nil, {}, article_groups) end
  end_appeals("comment:" .. comment.number)
  local id = append_log(
    "comment_deleted", deleter, "comment:" .. comment.number, "article", comment.article,
    "parent", comment.parent or "", "depth", comment.depth, "time", comment.time, "up", comment.up, "down", comment.down,
    "poster", comment.poster, "karma", karma, "stub", stub, "removed", removed, "entries", remove_texts(comment),
    "notified", comment.notified or ""
  )
  publish_comment("comment_deleted", comment, id, groups)
  return id, note_effects(id, slots_of(comment.notified, comment.slot)), karma
end

-- Logs the removal of a stub and of those above it. `removed` has the numbers of the latter, separated by spaces. It has no
-- effects.
local function log_stubs(lowest, removed)
  local id = append_log(
    "comment_deleted", "", "comment:" .. lowest.number, "article", lowest.article, "parent", lowest.parent or "",
    "depth", lowest.depth, "time", lowest.time, "up", lowest.up, "down", lowest.down, "poster", "", "karma", 0, "stub", "",
    "removed", removed, "entries", "", "notified", ""
  )
  publish_comment("comment_deleted", lowest, id)
end
