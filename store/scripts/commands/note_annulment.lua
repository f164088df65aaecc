-- Note in an action that annuls votes how far its work has come: the votes are annulled or, after its revert, restored,
-- in steps. When it is done, take the action off the list `annulling`. Nothing is noted if the action was reverted
-- meanwhile.
-- requires: prelude
-- from prelude: require_writable()
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       annulling: actions whose votes are still to be annulled or restored
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of the action   8 how many votes it holds   9 how many there are to do, or ""
--       10 instant before which votes may stay, as their voters are unknown (unix milliseconds), or ""
--       11 "restoring" when that begins, "done", "restored", or ""
--       12 "1" if votes are restored, as the action was reverted, else ""
-- Reply {"noted"} | {"reverted"}
require_writable()
local action = KEY.action .. ARGV[7]
-- `kept`: the votes stay annulled, although the action was reverted.
local reverted_by, kept = unpack(redis.call("HMGET", action, "reverted_by", "kept"))
if (reverted_by and not kept and "1" or "") ~= ARGV[12] then return {"reverted"} end
redis.call("HSET", action, "annulled", ARGV[8])
if ARGV[9] ~= "" then redis.call("HSET", action, "total", ARGV[9]) end
if ARGV[10] ~= "" then redis.call("HSET", action, "reaches", ARGV[10]) end
if ARGV[11] ~= "" then
  redis.call("HSET", action, "annulment", ARGV[11])
  if ARGV[11] ~= "restoring" then redis.call("ZREM", KEY.annulling, ARGV[7]) end
end
return {"noted"}
