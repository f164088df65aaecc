-- Record the last entry that a consumer of a log has taken, without which nothing is trimmed.
-- flags: allow-oom
-- KEYS  1 consumers:{p}
-- ARGV  1 name of the consumer   2 id of the entry
-- Reply how many consumers are new
return redis.call("HSET", KEYS[1], ARGV[1], ARGV[2])
