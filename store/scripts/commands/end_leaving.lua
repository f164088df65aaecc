-- End the deletion of a user, whose name nothing else has any more: the account becomes that of the pseudonym.
-- requires: bans
-- from prelude: require_open()
-- from bans: write_bans(subject)
-- flags: allow-oom
-- ARGV  1-6 actor, time and settings of the site: see prelude.lua   7 member of `leaving`: NAME PSEUDONYM TEXTS   8 username in lower case
--       9 pseudonym
-- Reply {"ended"}, also if this was done before
require_open()
local account, left = KEY.user .. ARGV[8], KEY.user .. ARGV[9]
if redis.call("HGET", account, "left") == ARGV[7] then
  for _, field in ipairs({"karma", "comment_karma"}) do
    local sum = redis.call("HGET", account, field)
    if sum then redis.call("HINCRBY", left, field, sum) end
  end
  redis.call("HSET", left, "name", ARGV[9], "joined", ARGV[3])
  redis.call("UNLINK", account)
  write_bans(ARGV[9])
end
local name = string.match(ARGV[7], "^%S+")
redis.call("ZREM", KEY.posters, name)
redis.call("ZREM", KEY.leaving, ARGV[7])
return {"ended"}
