-- Remove deleted articles and comments from what a user has saved.
-- requires: prelude
-- from prelude: require_open()
-- flags: allow-oom
-- ARGV  1-6 actor, time and settings of the site: see prelude.lua   7 username in lower case   from 8 on: members
-- Reply how many were taken out
require_open()
return redis.call("ZREM", KEY.saved .. ARGV[7], unpack(ARGV, 8))
