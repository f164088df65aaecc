-- Keep in an action how far its votes are annulled or restored, and forget it in `annulling` when that is done, unless it was
-- reverted meanwhile.
-- requires: prelude
-- from prelude: require_open()
-- ARGV  1-6 actor, time and settings of the site: see prelude.lua   7 number of the action   8 how many votes it holds
--       9 how many there are to do, or ""   10 votes cast before (unix milliseconds) are untouched, or ""
--       11 "restoring" when that begins, "done", "restored", or ""   12 "1" if what was done follows its revert, else ""
-- Reply {"noted"} | {"reverted"}
require_open()
local action = KEY.action .. ARGV[7]
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
