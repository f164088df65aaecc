-- Functions that delete comments. Follows comment_tree.lua in scripts. It takes no KEYS and no ARGV of its own.

-- Removes a comment without descendants: hash, voters, entries of all indexes.
local function drop_comment(comment)
  remove_from_replies(comment)
  for _, pin in ipairs(pins_of(comment.article)) do
    redis.call("ZREM", PINNED .. (comment.parent or comment.article) .. ":" .. pin, comment.member)
  end
  remove_from_tree(comment)
  redis.call("DEL", comment.hash, VOTED .. comment.number, DOWNVOTED .. comment.number)
end

local function has_descendants(comment)
  return redis.call("ZLEXCOUNT", TREE .. comment.article, descendants_of(comment.path)) > 0
end

-- Removes stubs without replies, upwards from one that may be one, at most `limit`. If there are more, the next one is
-- noted in `removing`. Returns their numbers, and that of the next one.
local function remove_stubs(number, limit)
  local removed = {}
  while number do
    local stub = find_comment(number)
    if not stub or stub.state ~= "deleted" or has_descendants(stub) then return removed end
    if #removed == limit then
      redis.call("ZADD", REMOVING, now, number)
      return removed, number
    end
    drop_comment(stub)
    removed[#removed + 1] = number
    number = stub.parent
  end
  return removed
end

-- Removes the texts of a comment from the log, and returns the ids of their entries.
local function remove_texts(comment)
  local with_texts = redis.call("HGET", LOGGED, comment.number) or ""
  for _, entry in ipairs(split(with_texts)) do redis.call("XDEL", LOG, entry) end
  redis.call("HDEL", LOGGED, comment.number)
  return with_texts
end

-- Takes a comment out of its poster's list and karma and out of inboxes, and logs its deletion. `stub` is "1" if a stub
-- is left, `removed` has the numbers of the stubs that go with it, `groups` those of the article. Returns the id of the
-- entry, what `note_effects` returns, and the change of the poster's karma.
local function log_removal(comment, deleter, stub, removed, groups)
  local karma = 1 - (comment.up - comment.down)
  if is_here(comment.slot) then
    redis.call("ZREM", OWN .. string.lower(comment.poster), comment.member)
    add_comment_karma(comment, karma)
  end
  forget_here(comment.notified, "comment", comment.number)
  local id = append_log(
    "comment_deleted", deleter, "comment:" .. comment.number, "article", comment.article,
    "parent", comment.parent or "", "depth", comment.depth, "time", comment.time, "up", comment.up, "down", comment.down,
    "poster", comment.poster, "karma", karma, "stub", stub, "removed", removed, "entries", remove_texts(comment),
    "notified", comment.notified or ""
  )
  publish_comment("comment_deleted", comment, id, groups)
  return id, note_effects(id, slots_of(comment.notified, comment.slot)), karma
end

-- Logs the removal of a stub and of those above it, whose numbers are `removed`. It has no effects.
local function log_stubs(lowest, removed)
  local id = append_log(
    "comment_deleted", "", "comment:" .. lowest.number, "article", lowest.article, "parent", lowest.parent or "",
    "depth", lowest.depth, "time", lowest.time, "up", lowest.up, "down", lowest.down, "poster", "", "karma", 0, "stub", "",
    "removed", removed, "entries", "", "notified", ""
  )
  publish_comment("comment_deleted", lowest, id)
end
