-- Set the state of a comment without a moderator: pending or visible. One that a moderator has removed stays removed.
-- requires: comment_states
-- from prelude: require_writable()
-- from comments: find_comment(number) -> fields by name | nil,
--   find_article_info(number) -> {poster, time, state, locked, groups} | nil
-- from comment_states: set_comment_state(comment, state, actor, limit, rule) -> {entry id, effects, state, poster, ...}
-- flags: allow-oom
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of partitions   8 number of the comment   9 state: visible or pending
--       10 how many comments above it get or lose their places in the thread at most
-- Reply {"changed", the list that the function `set_comment_state` returns, for other partitions} | {"same"} | {"missing"}
local wanted = ARGV[9]
require_writable()
local comment = find_comment(ARGV[8])
if not comment or comment.state == "deleted" or not find_article_info(comment.article) then return {"missing"} end
local state = wanted ~= "visible" and wanted or nil
if comment.state == state or comment.state == "removed" then return {"same"} end

return {"changed", set_comment_state(comment, state, ARGV[1], tonumber(ARGV[10]))}
