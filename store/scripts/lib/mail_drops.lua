-- Removes a mail from the queue. `recipient` is a username in lower case or the SHA-1 of an address, `what` the kind of
-- mail, such as confirm or replies.
-- requires: mail_keys
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       mailing: mails that wait, by when they are due   mail: what a mail is about
local function drop_mail(recipient, what)
  redis.call("ZREM", KEY.mailing, recipient .. ":" .. what)
  redis.call("DEL", KEY.mail .. recipient .. ":" .. what)
end
