-- Append to the log of a partition that a user was deleted, and note the id of this entry: earlier ones may name the user,
-- so trim_log.lua removes them once they are old enough.
-- requires: prelude
-- from prelude: require_writable(), append_log(kind, actor, subject, ...) -> entry id, publish(kind, number, name, id, ...)
-- flags: allow-oom
-- KEY   keys of this partition (a share of the data) by kind
--       outdated: entries up to which the log may name a deleted user
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 username, as written   8 pseudonym
--       9 when entries that name the user leave the log at the latest (unix milliseconds)
-- Reply {"noted"}
local username, pseudonym = ARGV[7], ARGV[8]
require_writable()
local id = append_log( -- `entries`, ids of entries that were removed at once: none
  "user_deleted", "", "user:" .. string.lower(username), "name", username, "pseudonym", pseudonym, "entries", ""
)
redis.call("ZADD", KEY.outdated, ARGV[9], id)
publish("user_deleted", 0, "-", id) -- "-": the event names nobody
return {"noted"}
