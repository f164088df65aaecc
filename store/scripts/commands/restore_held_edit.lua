-- Restore the waiting edit of an article or a comment, unless its subject is missing or removed.
-- requires: held_edits
-- from prelude: split(text) -> {word, ...}
-- from held_edits: queue_edit(number, state, groups, groups_before)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       heldedit: an edit that waits for approval
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of the article or comment   8 from here on: fields and values of the hash
local number = ARGV[7]
local poster, state, groups = unpack(redis.call("HMGET", KEY.article .. number, "poster", "state", "groups"))
if not poster then
  local article
  poster, state, article = unpack(redis.call("HMGET", KEY.comment .. number, "poster", "state", "article"))
  groups = redis.call("HGET", KEY.article .. (article or ""), "groups")
end
if not poster or not groups or state == "removed" then return end
redis.call("DEL", KEY.heldedit .. number)
redis.call("HSET", KEY.heldedit .. number, unpack(ARGV, 8))
queue_edit(number, state or nil, split(groups))
