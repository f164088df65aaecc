-- Remove deleted articles and comments from what a user has saved.
-- requires: prelude
-- from prelude: require_writable()
-- flags: allow-oom
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 username in lower case   from 8 on: numbers of articles and comments in 16 digits
-- Reply how many were taken out
require_writable()
return redis.call("ZREM", KEY.saved .. ARGV[7], unpack(ARGV, 8))
