-- Put off a mail that could not be sent, whether it is in the queue or was taken from it to be sent. Drop it if its user was
-- deleted.
-- requires: mail_drops
-- from mail_drops: drop_mail(recipient, what)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       closed: set while the partition takes no writes   mailing: mails that wait, by when they are due
--       mail: what a mail is about
-- ARGV  1 recipient: username in lower case, or SHA-1 of an address   2 kind of mail, such as confirm
--       3 when it was due, as it was read; "" if it was taken   4 when it is due now
--       5 since when it is tried (all unix milliseconds)   6 how often it was tried
--       from 7 on: fields and values of a mail that was taken
-- Reply {"waits"} | {"gone"}: it was taken, dropped, or is due at another time
local due_before = ARGV[3]
local recipient, what = ARGV[1], ARGV[2]
local ADDRESS = 40 -- characters of a recipient that is the digest of an address
local member = recipient .. ":" .. what
if redis.call("EXISTS", KEY.closed) == 1 then return redis.error_reply("CLOSED to writes") end
local due = redis.call("ZSCORE", KEY.mailing, member)
if due_before ~= "" and (not due or tonumber(due) ~= tonumber(due_before)) then return {"gone"} end
if #recipient < ADDRESS and redis.call("HEXISTS", KEY.user .. recipient, "name") == 0 then
  drop_mail(recipient, what)
  return {"gone"}
end
redis.call("HSET", KEY.mail .. member, "since", ARGV[5], "tries", ARGV[6], unpack(ARGV, 7))
redis.call("ZADD", KEY.mailing, ARGV[4], member)
return {"waits"}
