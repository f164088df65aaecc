-- Record the last entry that a consumer of the log, such as the one that writes the database, has taken. What a
-- consumer has not taken is not trimmed.
-- flags: allow-oom
-- KEYS  of partition p: 1 consumers:{p}
-- ARGV  1 name of the consumer   2 id of the entry
-- Reply 1 if the consumer is a new one, else 0
return redis.call("HSET", KEYS[1], ARGV[1], ARGV[2])
