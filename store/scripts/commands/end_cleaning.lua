-- Forget that the texts of a ban are to be removed or brought back, as that is done, unless the ban was reverted meanwhile.
-- requires: prelude
-- from prelude: require_open()
-- flags: allow-oom
-- ARGV  1-6 actor, time and settings of the site: see prelude.lua   7 number of the ban
--       8 "1" if what was done follows its revert, else ""
-- Reply {"done"} | {"reverted"}
require_open()
if ARGV[8] == "" and redis.call("HEXISTS", KEY.action .. ARGV[7], "reverted_by") == 1 then return {"reverted"} end
redis.call("ZREM", KEY.cleaning, ARGV[7])
return {"done"}
