-- Takes a mail out of the queue: of a user in lower case, and what it is about (see mails.lua).
-- requires: mail_keys
local function drop_mail(subject, what)
  redis.call("ZREM", KEY.mailing, subject .. ":" .. what)
  redis.call("DEL", KEY.mail .. subject .. ":" .. what)
end
