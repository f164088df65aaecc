-- Edits of articles and comments that a rule of the site holds: each waits in the queue of pending texts until a moderator
-- approves or rejects it. Meanwhile others read the text without the edit.
-- requires: flags
-- from flags: set_waiting(queue, number, since, groups, groups_before)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       heldedit: an edit that waits for approval   tree: an article's comments by branch path
--       queue: what waits for moderators

-- Puts the waiting edit of a visible subject into the queues of `groups`, and removes it from those of `groups_before`. A
-- subject that is not visible is in the queues because of its state, with or without an edit.
local function queue_edit(number, state, groups, groups_before)
  if state then return end
  local since = redis.call("HGET", KEY.heldedit .. number, "at")
  if since then set_waiting("pending", number, tonumber(since), groups, groups_before) end
end

-- Drops the waiting edit of a subject that is in `groups`. Returns whether there was one. Without one it runs no DEL: after
-- a deletion the server does not refuse the script any more, even if it is out of memory.
local function drop_edit(number, state, groups)
  if redis.call("EXISTS", KEY.heldedit .. number) == 0 then return false end
  redis.call("DEL", KEY.heldedit .. number)
  if state ~= "pending" then set_waiting("pending", number, nil, {}, groups) end
  return true
end

-- Moves the waiting edits of an article and of its comments from the queues of some groups to those of others. They are
-- found among all that waits in the partition.
local function requeue_edits(article, groups, groups_before)
  queue_edit(article.number, article.state, groups, groups_before)
  if redis.call("EXISTS", KEY.tree .. article.number) == 0 then return end
  for _, member in ipairs(redis.call("ZRANGE", KEY.queue .. "pending:all", 0, -1)) do
    local number = string.format("%.0f", tonumber(member))
    local own, state = unpack(redis.call("HMGET", KEY.comment .. number, "article", "state"))
    if own == article.number then queue_edit(number, state or nil, groups, groups_before) end
  end
end
