-- Takes a mail out of the queue.
-- requires: mail_keys
local function drop_mail(subject, what)
  redis.call("ZREM", KEY.mailing, subject .. ":" .. what)
  redis.call("DEL", KEY.mail .. subject .. ":" .. what)
end
