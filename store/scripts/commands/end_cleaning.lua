-- Take a ban off the list of those with work to do: all texts of the banned user are removed or, after a revert of the
-- ban, restored. A ban that was reverted while its texts were removed stays on the list.
-- requires: prelude
-- from prelude: require_writable()
-- flags: allow-oom
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       cleaning: bans whose texts are still to be removed or restored
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of the ban   8 "1" if texts were restored, as the ban was reverted, else ""
-- Reply {"done"} | {"reverted"}
local ban = ARGV[7]
require_writable()
if ARGV[8] == "" and redis.call("HEXISTS", KEY.action .. ban, "reverted_by") == 1 then return {"reverted"} end
redis.call("ZREM", KEY.cleaning, ban)
return {"done"}
