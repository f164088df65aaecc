-- Run one write command on one key, also while the server is out of memory.
-- flags: allow-oom
-- KEYS  1 the key
-- ARGV  1 the command   from 2 on: its arguments after the key
-- Reply what the command replies
return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))
