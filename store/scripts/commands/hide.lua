-- Hide an article from the home and the feed of the actor, or show it again.
-- requires: prelude
-- from prelude: actor() -> username | false, now (unix milliseconds)
-- replies kept in case the call is sent again, by status: changed
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of the article in 16 digits   8 how many articles a user hides at most, "0" to show it again
-- Reply {"changed" | "same", name of the actor} | {"full"} | {"unauthenticated"}
local article = ARGV[7]
local name = actor()
if not name then return {"unauthenticated"} end

local hidden, limit = KEY.hidden .. string.lower(name), tonumber(ARGV[8])
if limit == 0 then return {redis.call("ZREM", hidden, article) == 1 and "changed" or "same", name} end
if redis.call("ZSCORE", hidden, article) then return {"same", name} end
if redis.call("ZCARD", hidden) >= limit then return {"full"} end
redis.call("ZADD", hidden, now, article)
return {"changed", name}
