-- Read an article with its voters, in one step.
-- KEYS  of partition p: 1 article:{p}:N   2 voted:{p}:N   3 downvoted:{p}:N
-- ARGV  none
-- Reply {{field, value, ...}, {upvoter, ...}, {downvoter, ...}}, all empty if there is no such article
return {redis.call("HGETALL", KEYS[1]), redis.call("SMEMBERS", KEYS[2]), redis.call("SMEMBERS", KEYS[3])}
