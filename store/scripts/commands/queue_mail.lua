-- Queue a mail, unless it waits already.
-- requires: mail_keys, mails
-- from mail_keys: MAILS (the keys that functions of mails.lua take)
-- from mails: mails.queue(keys, recipient, what, at)
-- KEY   keys of this partition (a share of the data) by kind
--       closed: set while the partition takes no writes
-- ARGV  1 recipient: username in lower case, or SHA-1 of an address   2 the kind of mail   3 when it is due (unix milliseconds)
-- Reply {"queued"}
if redis.call("EXISTS", KEY.closed) == 1 then return redis.error_reply("CLOSED to writes") end
mails.queue(MAILS, ARGV[1], ARGV[2], ARGV[3])
return {"queued"}
