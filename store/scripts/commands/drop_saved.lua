-- Remove deleted articles and comments from what a user has saved.
-- requires: prelude
-- from prelude: require_writable()
-- flags: allow-oom
-- KEY   this partition's keys by name; to some a number or a name is appended (see registry.py)
-- ARGV  1-2 actor   3 now (unix milliseconds)   4-6 settings of the site: see prelude.lua   7 username in lower case
--       from 8 on: numbers of articles and comments in 16 digits
-- Reply how many were taken out
require_writable()
return redis.call("ZREM", KEY.saved .. ARGV[7], unpack(ARGV, 8))
