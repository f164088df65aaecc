-- Remove some comments of a deleted article, descendants first. Or, after a change of a comment, update the places that
-- it and its ancestors have in the thread. The caller repeats the script until none is left.
-- requires: comment_removal
-- from prelude: require_writable()
-- from comments: find_article_info(number) -> {poster, time, state, locked, groups} | nil,
--   find_comment(number) -> fields by name | nil
-- from comment_removal: update_places(number, limit) -> (removed numbers, next number | nil), log_stubs(lowest, removed),
--   drop_comment(comment), log_removal(comment, deleter, stub, removed, groups) -> (entry id, effects, change of karma)
-- flags: allow-oom
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       removing: articles and comments still to be removed or to enter or leave lists, in steps
--       left: archived articles whose comments Redis still has   tree: an article's comments by branch path
--       stubs: those comments of a tree that are not visible   pins: moments at which a thread's order was kept
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of partitions   8 number of the article, or of the lowest comment to update
--       9 how many comments to remove at most
-- Reply {next, {partition, id, ...}}
--       next: the argument 8 of the next call, or "" if nothing is left
--       partition, id: each other partition whose users the removed comments concern, and the last entry that does
local number, limit = ARGV[8], tonumber(ARGV[9])
require_writable()

-- Updates the places of comments, if their article exists. Otherwise they are removed with the other comments of the article.
local function settle_more(lowest)
  redis.call("ZREM", KEY.removing, lowest.number)
  if not find_article_info(lowest.article) then return {"", {}} end
  local removed, next = update_places(lowest.number, limit)
  if removed[1] then log_stubs(lowest, table.concat(removed, " ", 2)) end -- without the first, the lowest itself
  return {next or "", {}}
end

local lowest = find_comment(number)
if lowest then return settle_more(lowest) end
if redis.call("EXISTS", KEY.article .. number) == 1 then return {"", {}} end
if redis.call("ZSCORE", KEY.left, number) then -- it is not deleted: the archive has it, with these comments
  redis.call("ZREM", KEY.removing, number)
  return {"", {}}
end

local NOBODY, NO_STUB, NONE_REMOVED = "", "", "" -- in the log: who deletes it, and the stubs that are left or go with it
local tree, last_ids = KEY.tree .. number, {} -- ids of entries by partition
for _, member in ipairs(redis.call("ZREVRANGEBYLEX", tree, "+", "-", "LIMIT", 0, limit)) do
  local comment = find_comment(string.match(member, " (%d+)$"))
  if comment then
    drop_comment(comment)
    if comment.state ~= "deleted" then
      local id, effects = log_removal(comment, NOBODY, NO_STUB, NONE_REMOVED)
      for i = 1, #effects, 2 do last_ids[effects[i]] = id end
    end
  end
  redis.call("ZREM", tree, member)
end

local flat = {}
for partition, id in pairs(last_ids) do
  flat[#flat + 1] = partition
  flat[#flat + 1] = id
end
if redis.call("EXISTS", tree) == 1 then return {number, flat} end
redis.call("DEL", KEY.stubs .. number, KEY.pins .. number)
redis.call("ZREM", KEY.removing, number)
return {"", flat}
