-- Set the state of a restored article or comment by the actions about it, of which some may be newer than the backup. A
-- purged one loses its text.
-- requires: article_states, comment_states, decisions
-- from prelude: require_writable(), find_article(number) -> fields by name | nil
-- from article_states: set_state(article, state, actor, rule), set_locked(article, is_locked, actor)
-- from comments: find_comment(number) -> fields by name | nil,
--   find_article_info(number) -> {poster, time, state, locked, groups} | nil
-- from comment_states: set_comment_state(comment, state, actor, limit, rule) -> {entry id, effects, state, poster, ...}
-- from actions: standing_action(subject, kinds, wanted) -> (number, kind) | nil
-- from decisions: state_of(subject) -> (state | nil, kind | nil, rule | nil), is_purged(subject)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of partitions   8 id of the article or comment: article:N or comment:N
--       9 the text in the place of one that was purged
--       10 how many comments above one get or lose their places in the thread at most
-- Reply {"restored"}
local purged_text = ARGV[9]
require_writable()
local subject = ARGV[8]
local type, number = string.match(subject, "^(%l+):(%d+)$")
local article = type == "article" and find_article(number)
local comment = type == "comment" and find_comment(number)
if comment and (comment.state == "deleted" or not find_article_info(comment.article)) then comment = nil end
local text = article or comment
if not text then return {"restored"} end

local state, is_locked = state_of(subject), standing_action(subject, "lock") ~= nil
local is_wrong = (state == "removed") ~= (text.state == "removed")
local NOBODY = "" -- in the log: a backup is restored
if is_wrong and article then set_state(article, state, NOBODY) end
if is_wrong and comment then set_comment_state(comment, state, NOBODY, tonumber(ARGV[10])) end
if article and is_locked ~= (article.locked ~= nil) then set_locked(article, is_locked, NOBODY) end
if is_purged(subject) and article then
  redis.call("HSET", KEY.article .. number, "title", purged_text)
  redis.call("HDEL", KEY.article .. number, "link", "link_digest", "content")
end
if is_purged(subject) and comment then redis.call("HSET", comment.hash, "content", purged_text) end
return {"restored"}
