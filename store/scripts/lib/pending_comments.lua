-- Comments that wait to be approved by a moderator. They are in the queues of the site and of the groups of their article, by
-- when they were posted.
-- requires: held_edits
-- from flags: set_waiting(queue, number, since, groups, groups_before)
-- from held_edits: queue_edit(number, state, groups, groups_before)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       stubs: those comments of a tree that are not visible

-- Updates the queues of a comment that is pending itself, or whose edit waits. `groups` are those of its article.
local function queue_pending(comment, groups)
  local since = comment.state == "pending" and comment.time or nil
  set_waiting("pending", comment.number, since, groups, groups)
  queue_edit(comment.number, comment.state, groups)
end

-- Moves the pending comments of an article from the queues of some groups to those of others; without `groups` they wait
-- nowhere any more.
local function requeue_pending(article, groups, groups_before)
  for _, member in ipairs(redis.call("ZRANGE", KEY.stubs .. article, 0, -1)) do
    local number = string.match(member, " (%d+)$")
    local time, state = unpack(redis.call("HMGET", KEY.comment .. number, "time", "state"))
    if state == "pending" then set_waiting("pending", number, groups and time or nil, groups or {}, groups_before) end
  end
end
