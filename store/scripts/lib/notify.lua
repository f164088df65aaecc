-- Functions that add notifications to the inbox of a user, unless there is no such user.
-- requires: mails
-- from mails: mails.note(keys, recipient, member, at)
-- `account`, `inbox`, `events` and `blocked` are keys: the hash of the user, the notifications by time, the channel of
-- events, and whom the user has blocked, by when. `member` is of the inbox: NUMBER KIND TYPE, such as "0000000000004711
-- reply comment"; `at` is when it happened (unix milliseconds), and `actor` who did it, nil for nobody. A user is not
-- notified of an actor whom the user had blocked before `at`.
local notify, put_back_in_inbox
do -- a script has at most 200 local variables
  local function add_notification(account, inbox, member, at)
    local MAX_NOTIFICATIONS = 1000
    redis.call("ZADD", inbox, at, member)
    local dropped = redis.call("ZRANGE", inbox, 0, -MAX_NOTIFICATIONS - 1, "WITHSCORES")
    if dropped[1] then
      redis.call("ZREMRANGEBYRANK", inbox, 0, -MAX_NOTIFICATIONS - 1)
      redis.call("HSET", account, "inbox_dropped", dropped[#dropped])
    end
  end

  -- Whether a user had blocked an actor by a time.
  local function has_blocked(blocked, actor, at)
    local since = actor and redis.call("ZSCORE", blocked, actor)
    return since and tonumber(since) <= tonumber(at)
  end

  -- Adds a notification, plans a mail about it and tells all processes. `keys` are those of mails, by the names mailbox,
  -- mailing and mail.
  function notify(account, inbox, events, keys, member, at, blocked, actor)
    local name, last_seen = unpack(redis.call("HMGET", account, "name", "inbox_seen"))
    if not name or has_blocked(blocked, actor, at) then return end
    local seen = tonumber(string.match(last_seen or "", "^%S+"))
    if seen and seen >= tonumber(at) then at = seen + 1 end -- it comes late: nobody has seen it
    add_notification(account, inbox, member, at)
    mails.note(keys, string.lower(name), member, at)
    redis.call("PUBLISH", events, string.format("notified %.0f %s", tonumber(string.match(member, "^%d+")), name))
  end

  -- Puts a notification back that was taken out when its article or comment was hidden, unless it is from before the user
  -- joined, or was dropped from a full inbox. Nobody is told again.
  function put_back_in_inbox(account, inbox, member, at, blocked, actor)
    local name, joined, dropped = unpack(redis.call("HMGET", account, "name", "joined", "inbox_dropped"))
    if not name or has_blocked(blocked, actor, at) then return end
    if tonumber(at) < (tonumber(joined) or 0) or tonumber(at) <= (tonumber(dropped) or -1) then return end
    add_notification(account, inbox, member, at)
  end
end
