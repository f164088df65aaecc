-- Take a lease, or extend it: whoever has it does a task that one process at a time does for all.
-- flags: allow-oom
-- KEYS  of partition p: 1 lease:{p}:NAME
-- ARGV  1 token of the caller   2 how long it lasts (milliseconds)
-- Reply 1, or 0 if another has it
local token, lifetime = ARGV[1], ARGV[2]
local owner = redis.call("GET", KEYS[1])
if owner and owner ~= token then return 0 end
-- A lease with more than two thirds of its time left is not written again: each write goes to the append-only file.
if owner and redis.call("PTTL", KEYS[1]) > lifetime * 2 / 3 then return 1 end
redis.call("SET", KEYS[1], token, "PX", lifetime)
return 1
