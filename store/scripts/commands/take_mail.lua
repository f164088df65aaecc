-- Take a mail out of the queue before it is sent, so that it is sent once: of two callers one gets it.
-- requires: mail_drops, mails
-- from mail_drops: drop_mail(recipient, what)
-- from mails: mails.due_at(often, at) -> unix milliseconds
-- flags: allow-oom
-- replies kept in case the call is sent again, by status: taken
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       closed: set while the partition takes no writes   mailing: mails that wait, by when they are due
--       mail: what a mail is about   mailbox: a user's addresses
-- ARGV  1 recipient: username in lower case, or SHA-1 of an address   2 kind of mail, such as confirm
--       3 when it is due, as it was read   4 now (both unix milliseconds)
--       from 5 on: the notifications or the address that it is about
-- Reply {"taken"} | {"gone"}: it was taken, dropped, or is due at another time
--
-- What was noted meanwhile, and other addresses, wait for another mail.
local now = ARGV[4]
local recipient, what = ARGV[1], ARGV[2]
if redis.call("EXISTS", KEY.closed) == 1 then return redis.error_reply("CLOSED to writes") end
local due = redis.call("ZSCORE", KEY.mailing, recipient .. ":" .. what)
if not due or tonumber(due) ~= tonumber(ARGV[3]) then return {"gone"} end
local mail = KEY.mail .. recipient .. ":" .. what
redis.call("HDEL", mail, "since", "tries", unpack(ARGV, 5))
if redis.call("EXISTS", mail) == 0 then
  drop_mail(recipient, what)
else
  local often = redis.call("HGET", KEY.mailbox .. recipient, "replies")
  local next = what == "replies" and mails.due_at(often, tonumber(now)) or tonumber(now)
  redis.call("ZADD", KEY.mailing, string.format("%.0f", next), recipient .. ":" .. what)
end
return {"taken"}
