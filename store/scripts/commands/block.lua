-- Block a user, or do not block them any more.
-- requires: prelude
-- from prelude: actor() -> username | false, now (unix milliseconds)
-- replies kept in case the call is sent again, by status: changed
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       unblocked: whom a user blocked before
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 username, as written   8 how many users somebody blocks at most, "0" to end the block
-- Reply {"changed" | "same", name of the actor} | {"full"} | {"self"} | {"unauthenticated"}
local blockee = ARGV[7]
local MAX_UNBLOCKED = 1000 -- users in `unblocked`, the latest ones
local name = actor()
if not name then return {"unauthenticated"} end
if name == blockee then return {"self"} end

local blocked, limit = KEY.blocked .. string.lower(name), tonumber(ARGV[8])
if limit == 0 then
  if redis.call("ZREM", blocked, blockee) == 0 then return {"same", name} end
  redis.call("ZADD", KEY.unblocked .. string.lower(name), now, blockee)
  redis.call("ZREMRANGEBYRANK", KEY.unblocked .. string.lower(name), 0, -MAX_UNBLOCKED - 1)
  return {"changed", name}
end
if redis.call("ZSCORE", blocked, blockee) then return {"same", name} end
if redis.call("ZCARD", blocked) >= limit then return {"full"} end
redis.call("ZADD", blocked, now, blockee)
return {"changed", name}
