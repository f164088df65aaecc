-- Appeals against actions of moderators, and the queues in which they wait. An appeal has the number of its action.
-- When it is made, its field `groups` gets the groups whose moderators could revert the action: it waits in the queues
-- of these groups, and in that of the site, which has all appeals.
-- requires: flags
-- from prelude: split(text) -> {word, ...}
-- from flags: set_waiting(queue, number, since, groups, groups_before)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       appeal: the appeal against an action   actions: actions of moderators, by time
-- ARGV  3 now (unix milliseconds); no other is used here
local function groups_of_appeal(number)
  return split(redis.call("HGET", KEY.appeal .. number, "groups") or "")
end

-- Answers the appeal against an action, if there is one that was not answered. Without a text, a revert of the action
-- answers it.
local function answer_appeal(number, moderator, text)
  local appeal = KEY.appeal .. number
  local author, answered_by = unpack(redis.call("HMGET", appeal, "username", "answered_by"))
  if not author or answered_by then return end
  redis.call("HSET", appeal, "answered_by", moderator, "answered_at", ARGV[3])
  if text then redis.call("HSET", appeal, "answer", text) end
  set_waiting("appeals", number, nil, {}, groups_of_appeal(number))
end

-- Removes the appeals against actions on a deleted subject from the queue. Their field `ended` says when this was done.
local function end_appeals(subject)
  for _, member in ipairs(redis.call("ZRANGE", KEY.actions .. subject, 0, -1)) do
    local number = string.format("%.0f", tonumber(member))
    local author, answered_by = unpack(redis.call("HMGET", KEY.appeal .. number, "username", "answered_by"))
    if author and not answered_by then
      redis.call("HSET", KEY.appeal .. number, "ended", ARGV[3])
      set_waiting("appeals", number, nil, {}, groups_of_appeal(number))
    end
  end
end
