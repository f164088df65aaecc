-- Change the address of the actor, and how often replies are mailed; queue the mails that this needs: one with a link to
-- confirm a new address, and a notice to the one that was confirmed before.
-- requires: mail_drops, mailboxes, one_time_tokens, prelude
-- from mail_keys: MAILS (the keys that functions of mails.lua take)
-- from mail_drops: drop_mail(recipient, what)
-- from mails: mails.queue(keys, recipient, what, at), mails.due_at(often, at) -> unix milliseconds
-- from mailboxes: unlist_address(lower_name, email)
-- from one_time_tokens: use_token(digest, purpose, call, at) -> (name, detail, is repeated) | nil, end_tokens(lower_name, kept)
-- from prelude: any_actor() -> username | false, actor() -> username | false, now (unix milliseconds)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       mailbox: a user's addresses   mail: what a mail is about   mailing: mails that wait, by when they are due
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 what becomes of the address: keep (nothing), set, repeat (one that the user has: if it is the pending one,
--       its link is mailed again), or remove
--       8 the address   9 the password hash that was verified, or ""
--       10 never, at_once, daily or weekly, or "" if that stays
--       11 the key that signs the links which end such mails, for a user who has none yet
--       12 a random text of this edit   13 digest of the token that stands in for the password, or ""
-- Reply {"edited", username} | {"unauthenticated"} | {"changed"} if the stored hash is no longer the verified one, or
--       the address is another one | {"bad"} if the token is used or has ended
local verified_hash, this_edit, token = ARGV[9], ARGV[12], ARGV[13]
local change, address, often = ARGV[7], ARGV[8], ARGV[10]
local name
if change == "keep" then name = any_actor() else name = actor() end -- `any_actor`: also one who is banned
if not name then return {"unauthenticated"} end
local lower_name = string.lower(name)
local box = KEY.mailbox .. lower_name
if verified_hash ~= "" and redis.call("HGET", KEY.user .. lower_name, "password") ~= verified_hash then return {"changed"} end

if redis.call("HGET", box, "edit") == this_edit then return {"edited", name} end -- it is sent again: its reply was lost
local email, pending = unpack(redis.call("HMGET", box, "email", "pending"))
if change == "repeat" and address ~= email and address ~= pending then return {"changed"} end
if token ~= "" and not use_token(token, "identity", this_edit, ARGV[3]) then return {"bad"} end
redis.call("HSET", box, "edit", this_edit)
redis.call("HSETNX", box, "key", ARGV[11])

-- Tells the confirmed address of a change.
local function queue_notice(what)
  if not email then return end
  redis.call("HSET", KEY.mail .. lower_name .. ":" .. what, email, now)
  mails.queue(MAILS, lower_name, what, now)
end

if (change == "set" or change == "repeat") and address == email then
  redis.call("HDEL", box, "pending")
  if redis.call("HGET", box, "unusable") == address then redis.call("HDEL", box, "unusable") end
  drop_mail(lower_name, "confirm")
elseif change == "set" or change == "repeat" then
  redis.call("HSET", box, "pending", address)
  if redis.call("HGET", box, "unusable") == address then redis.call("HDEL", box, "unusable") end
  drop_mail(lower_name, "confirm")
  mails.queue(MAILS, lower_name, "confirm", now)
  if pending ~= address then queue_notice("change") end
elseif change == "remove" then
  if email then
    unlist_address(lower_name, email)
    queue_notice("removal")
  end
  redis.call("HDEL", box, "email", "pending", "unusable")
  for _, what in ipairs({"confirm", "reset", "identity", "replies"}) do drop_mail(lower_name, what) end
  end_tokens(lower_name)
end

if often == "never" then
  redis.call("HDEL", box, "replies")
  drop_mail(lower_name, "replies")
elseif often ~= "" then
  redis.call("HSET", box, "replies", often)
  redis.call("ZADD", KEY.mailing, "XX", string.format("%.0f", mails.due_at(often, now)), lower_name .. ":replies")
end
return {"edited", name}
