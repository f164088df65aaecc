-- Removes a mail from the queue. `subject` is the user in lower case, `what` the kind of mail, such as confirm or
-- replies.
-- requires: mail_keys
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       mailing: mails that wait, by when they are due   mail: what a mail is about
local function drop_mail(subject, what)
  redis.call("ZREM", KEY.mailing, subject .. ":" .. what)
  redis.call("DEL", KEY.mail .. subject .. ":" .. what)
end
