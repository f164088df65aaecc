-- End the deletion of a user, once no other key has the name: the account becomes that of the pseudonym, a random name that
-- takes the place of the user's.
-- requires: bans
-- from prelude: require_writable()
-- from bans: write_bans(lower_name)
-- flags: allow-oom
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       posters: usernames, by the time of the newest article   leaving: users who are being deleted
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 member of `leaving`: NAME PSEUDONYM TEXTS, the last one keep or remove   8 username in lower case
--       9 pseudonym
-- Reply {"ended"}, also if this was done before
local leaver, username, pseudonym = ARGV[7], ARGV[8], ARGV[9]
require_writable()
local account, new_account = KEY.user .. username, KEY.user .. pseudonym
if redis.call("HGET", account, "left") == leaver then
  for _, field in ipairs({"karma", "comment_karma"}) do
    local sum = redis.call("HGET", account, field)
    if sum then redis.call("HINCRBY", new_account, field, sum) end
  end
  redis.call("HSET", new_account, "name", pseudonym, "joined", ARGV[3])
  local floor = redis.call("HGET", account, "older_comments") -- the time up to which the list lacks comments
  if floor then redis.call("HSET", new_account, "older_comments", floor) end
  redis.call("UNLINK", account)
  write_bans(pseudonym)
end
local name = string.match(leaver, "^%S+")
redis.call("ZREM", KEY.posters, name)
redis.call("ZREM", KEY.leaving, leaver)
return {"ended"}
