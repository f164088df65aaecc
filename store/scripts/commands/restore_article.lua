-- Write an article of a backup with everything derived from it. Its voters have to be restored first. Safe to repeat.
-- requires: article_indexes
-- from prelude: find_article(number) -> fields by name | nil, window (milliseconds in which votes are open),
--   now (unix milliseconds), GRACE (milliseconds from the end of voting until the sets of voters expire),
--   add_karma(article, votes)
-- from article_indexes: add_to_indexes(article), karma_of(article) -> number
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of the article   8 and on: field, value, ...
-- Reply {"restored"} | {"known"} if the article existed
local number = ARGV[7]
local is_known = redis.call("EXISTS", KEY.article .. number) == 1
if not is_known then redis.call("HSET", KEY.article .. number, unpack(ARGV, 8)) end

local article = find_article(number)
local open_for = article.time + window - now -- milliseconds in which voting is still open
for _, voters in ipairs({KEY.voted .. number, KEY.downvoted .. number}) do
  if open_for < 0 then redis.call("DEL", voters) else redis.call("PEXPIRE", voters, open_for + GRACE) end
end
if is_known then return {"known"} end

-- `away` says that it is out of inboxes, as it is not visible
if article.state and article.notified then redis.call("HSET", KEY.article .. number, "away", "1") end
add_to_indexes(article)
add_karma(article, karma_of(article))
return {"restored"}
