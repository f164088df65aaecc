-- Begin to delete a user: nothing of the account is left but its karma and the time up to which its comments are in no
-- list (`older_comments`), all sessions and tokens end, and nobody acts by this name any more. The name is noted in
-- `leaving`, with the pseudonym that takes its place. Later steps replace the name in all other keys.
-- requires: bans, mail_drops, mailboxes, name_digests, one_time_tokens
-- from prelude: require_writable(), split(text) -> {word, ...}, append_log(kind, actor, subject, ...) -> entry id,
--   publish(kind, number, name, id, ...), now (unix milliseconds)
-- from session_lists: end_sessions(lower_name, kept)
-- from mail_drops: drop_mail(recipient, what)
-- from mailboxes: unlist_address(lower_name, email)
-- from name_digests: name_digest(secret, name) -> hex digits
-- from one_time_tokens: use_token(digest, purpose, call, at) -> (name, detail, is repeated) | nil, end_tokens(lower_name, kept)
-- flags: allow-oom
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       logged: ids of the log's entries with texts, by number or user   leaving: users who are being deleted
--       moderators: who has a role, by time   mailbox: a user's addresses   namekey: the secret for digests of names
--       departed: pseudonyms of deleted users, by digest of the name
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 username in lower case   8 slot of the user (one of 1,024; it decides their partition)
--       9 the password hash that was verified, or ""   10 pseudonym   11 keep or remove: what becomes of the texts
--       12 the key of the store for digests of names   13 digest of the token that stands in for the password, or ""
-- Reply {"left", "NAME PSEUDONYM TEXTS", the new member of `leaving`}, also if this was begun before
--       | {"changed"} if the stored hash is no longer the verified one | {"missing"}
--       | {"bad"} if the token is used or has ended
local verified_hash, pseudonym, token = ARGV[9], ARGV[10], ARGV[13]
require_writable()
local lower_name, account = ARGV[7], KEY.user .. ARGV[7]
local name, password, roles, begun = unpack(redis.call("HMGET", account, "name", "password", "roles", "left"))
if begun then return {"left", begun} end
if not name then return {"missing"} end
if verified_hash ~= "" and password ~= verified_hash then return {"changed"} end
local this_call = pseudonym -- as it is random, and the same if the call is sent again
if token ~= "" and not use_token(token, "identity", this_call, ARGV[3]) then return {"bad"} end

-- Removes the entries of the log with what the user has written about themselves, and says so in the log.
local function forget_profile()
  local noted = redis.call("HGET", KEY.logged, "user:" .. lower_name)
  if not noted then return end
  for _, entry in ipairs(split(noted)) do redis.call("XDEL", KEY.log, entry) end
  redis.call("HDEL", KEY.logged, "user:" .. lower_name)
  local id = append_log(
    "user_deleted", "", "user:" .. lower_name, "name", name, "pseudonym", pseudonym, "entries", noted
  )
  publish("user_deleted", 0, "-", id) -- "-": the event names nobody
end

local KEPT = {karma = true, comment_karma = true, joined = true, older_comments = true}
for _, field in ipairs(redis.call("HKEYS", account)) do
  if not KEPT[field] then redis.call("HDEL", account, field) end
end
local leaver = table.concat({name, pseudonym, ARGV[11]}, " ")
redis.call("HSET", account, "left", leaver)
redis.call("ZADD", KEY.leaving, now, leaver)
for place in string.gmatch(roles or "", "%l+:?([^%s=]*)=") do -- the group in ROLE:GROUP=TIME, "" in ROLE=TIME
  redis.call("ZREM", KEY.moderators .. (place ~= "" and "group:" .. place or "site"), name)
end
end_sessions(lower_name)
local email = redis.call("HGET", KEY.mailbox .. lower_name, "email")
if email then unlist_address(lower_name, email) end
redis.call("DEL", KEY.mailbox .. lower_name)
for _, what in ipairs({"confirm", "reset", "identity", "replies", "change", "removal"}) do drop_mail(lower_name, what) end
end_tokens(lower_name)
redis.call("SET", KEY.namekey, ARGV[12], "NX")
redis.call("HSET", KEY.departed, name_digest(redis.call("GET", KEY.namekey), lower_name), pseudonym)
forget_profile()
redis.call("PUBLISH", KEY.events, table.concat({"user_deleted", ARGV[8], pseudonym}, " ")) -- with the slot: sessions have ended
return {"left", leaver}
