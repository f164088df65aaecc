-- Find notifications by their members of the inbox, some of which may be missing.
-- KEYS  of partition p: 1 inbox:{p}:NAME   2 user:{p}:NAME
-- ARGV  members
-- Reply {the mark up to which the user has seen the inbox, or "", value or nil of the first member, of the second, ...}
return {redis.call("HGET", KEYS[2], "inbox_seen") or "", unpack(redis.call("ZMSCORE", KEYS[1], unpack(ARGV)))}
