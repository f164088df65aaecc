-- Confirm the pending address of a user: it takes the place of the one before, and open tokens end.
-- requires: mail_drops, mailboxes, one_time_tokens
-- from mail_drops: drop_mail(recipient, what)
-- from mailboxes: unlist_address(lower_name, email), list_address(lower_name, email)
-- from one_time_tokens: use_token(digest, purpose, call, at) -> (name, detail, is repeated) | nil, end_tokens(lower_name, kept)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       closed: set while the partition takes no writes   mailbox: a user's addresses
-- ARGV  1 digest of the token   2 what it is for   3 a random text of this call   4 now (unix milliseconds)
-- Reply {"confirmed", username} | {"bad"}: the token is used, has ended, or is of another address than the pending one
local token, purpose, this_call, now = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
if redis.call("EXISTS", KEY.closed) == 1 then return redis.error_reply("CLOSED to writes") end
local name, address, is_repeated = use_token(token, purpose, this_call, now)
if not name then return {"bad"} end
if is_repeated then return {"confirmed", name} end
local lower_name = string.lower(name)
local box = KEY.mailbox .. lower_name
local email, pending = unpack(redis.call("HMGET", box, "email", "pending"))
if pending ~= address then return {"bad"} end

if email then unlist_address(lower_name, email) end
list_address(lower_name, address)
redis.call("HSET", box, "email", address)
redis.call("HDEL", box, "pending", "unusable")
drop_mail(lower_name, "confirm")
end_tokens(lower_name, token)
return {"confirmed", name}
