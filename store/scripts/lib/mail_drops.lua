-- Removes a mail from the queue. `subject` is the user in lower case, `what` the kind of mail: see mails.lua.
-- requires: mail_keys
local function drop_mail(subject, what)
  redis.call("ZREM", KEY.mailing, subject .. ":" .. what)
  redis.call("DEL", KEY.mail .. subject .. ":" .. what)
end
