-- Write an archived article, which only the SQL database has, back to Redis, so that it can be changed. From now on
-- reads ignore its places in the database.
-- requires: article_indexes, recounts
-- from prelude: require_writable(), find_article(number) -> fields by name | nil,
--   good_votes (how many votes make an article good)
-- from article_indexes: add_to_indexes(article), archived_of(name) -> (count, unix milliseconds),
--   set_archived_of(name, count, newest)
-- from recounts: has_counts(number, position)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       moving: articles about to leave Redis or just back: what the database has of them does not count
--       archived: how many articles are only in the SQL database, and their greatest values
--       lease: token of the process that does a task for all   tree: an article's comments by branch path
--       left: archived articles whose comments Redis still has
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of the article   8 what `archived` has of the poster, as the caller read it before the article
--       9 posting time and 10 number of the newest of the poster's other archived articles, or "" and ""
--       11 id of the last entry of the log that the database had read before all this was read there
--       12 how many comments restore_conversation.lua has written
--       13 token of the lease that one process at a time has to write comments, or ""   14 and on: field, value, ...
-- Reply {"unarchived"}, also if it is in Redis already | {"missing"} if it was deleted
--       | {"changed"} if articles of the poster have moved meanwhile: read again
--       | {"overtaken"} if another process writes the comments, or has removed some
--       | {"behind"} if the database did not have the last change of counts of archived articles: read again later
local comment_count = ARGV[12]
require_writable()
local number = ARGV[7]
if redis.call("EXISTS", KEY.article .. number) == 1 then return {"unarchived"} end
if redis.call("SISMEMBER", KEY.moving, number) == 1 then return {"missing"} end -- it was back, and deleted
local fields = {}
for i = 14, #ARGV, 2 do fields[ARGV[i]] = ARGV[i + 1] end
local name = string.lower(fields.poster)
if not has_counts(number, ARGV[11]) then return {"behind"} end
local is_current = (redis.call("HGET", KEY.archived, "user:" .. name) or "") == ARGV[8]
local newest_time, newest_number = ARGV[9], ARGV[10]
if not is_current or redis.call("SISMEMBER", KEY.moving, newest_number) == 1 then return {"changed"} end

if comment_count ~= "0" and redis.call("GET", KEY.lease .. "conversations") ~= ARGV[13] then return {"overtaken"} end
if redis.call("ZCARD", KEY.tree .. number) ~= tonumber(comment_count) then return {"overtaken"} end

redis.call("HSET", KEY.article .. number, unpack(ARGV, 14))
redis.call("ZREM", KEY.left, number)
redis.call("SADD", KEY.moving, number)
local article = find_article(number)
-- `away` says that it is out of inboxes, as it is not visible
if article.state and article.notified then redis.call("HSET", KEY.article .. number, "away", "1") end
add_to_indexes(article)

local function count_one_less(field)
  if redis.call("HINCRBY", KEY.archived, field, -1) == 0 then redis.call("HDEL", KEY.archived, field) end
end

if article.state then -- no listing has it, and it does not count for its poster
  count_one_less("count:removed")
  redis.call("HINCRBY", KEY.archived, "serial", 1)
  return {"unarchived"}
end
redis.call("HINCRBY", KEY.archived, "count", -1)
if article.up - article.down >= good_votes then redis.call("HINCRBY", KEY.archived, "count:good", -1) end
for _, group in ipairs(article.groups) do count_one_less("count:group:" .. group) end
local count = archived_of(name)
set_archived_of(name, count - 1, tonumber(newest_time) or 0)
return {"unarchived"}
