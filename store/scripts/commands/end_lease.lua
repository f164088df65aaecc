-- Give up a lease, which has let one process do a task for all.
-- flags: allow-oom
-- KEYS  of partition p: 1 lease:{p}:NAME
-- ARGV  1 token of the caller
-- Reply 1, or 0 if another has it, or nobody
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call("DEL", KEYS[1])
