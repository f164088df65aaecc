-- Take a ban off the list of work: all its texts are removed or, after its revert, restored. Not if it was reverted meanwhile.
-- requires: prelude
-- from prelude: require_open()
-- flags: allow-oom
-- ARGV  1-6 actor, time and settings of the site: see prelude.lua   7 number of the ban
--       8 "1" if what was done follows its revert, else ""
-- Reply {"done"} | {"reverted"}
local ban = ARGV[7]
require_open()
if ARGV[8] == "" and redis.call("HEXISTS", KEY.action .. ban, "reverted_by") == 1 then return {"reverted"} end
redis.call("ZREM", KEY.cleaning, ban)
return {"done"}
