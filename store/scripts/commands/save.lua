-- Add an article or a comment to what the actor has saved, or take it out.
-- requires: prelude
-- from prelude: actor() -> username | false, now (unix milliseconds)
-- replies kept in case the call is sent again, by status: changed
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of the article or comment in 16 digits   8 how many things a user saves at most, "0" to take it out
-- Reply {"changed" | "same", name of the actor} | {"full"} | {"unauthenticated"}
local member = ARGV[7]
local name = actor()
if not name then return {"unauthenticated"} end

local saved, limit = KEY.saved .. string.lower(name), tonumber(ARGV[8])
if limit == 0 then return {redis.call("ZREM", saved, member) == 1 and "changed" or "same", name} end
if redis.call("ZSCORE", saved, member) then return {"same", name} end
if redis.call("ZCARD", saved) >= limit then return {"full"} end
redis.call("ZADD", saved, now, member)
return {"changed", name}
