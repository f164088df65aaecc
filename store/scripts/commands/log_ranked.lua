-- Log and publish to all processes that the orders, their weights or the index of links have changed.
-- requires: log_entry
-- from log_entry: log_entry(log, events, at, kind, actor, subject, ...) -> entry id
-- flags: allow-oom
-- KEYS  of partition p: 1 log:{p}   2 channel events:{p}
-- ARGV  1 now (unix milliseconds)
-- Reply {"logged"}
local NOBODY, NO_GROUP = "", "" -- in the log: who did it, and that it is about the whole site
log_entry(KEYS[1], KEYS[2], ARGV[1], "ranked", NOBODY, "", "group", NO_GROUP)
return {"logged"}
