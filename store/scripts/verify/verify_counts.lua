-- Verify the number of visible comments of an article and the time of the newest; or the number of visible replies to a
-- comment, by the indexes, and whether a thread has a place for it.
-- requires: comment_removal, verify_prelude
-- from prelude: now (unix milliseconds)
-- from branch_paths: descendants_of(path) -> (from, to)
-- from comments: newest_time(article, time) -> unix milliseconds, write_activity(article), index_activity(article),
--   find_comment(number) -> fields by name | nil, find_article_info(number) -> {poster, time, state, locked, groups} | nil
-- from comment_removal: has_descendants(comment), has_place(comment), set_place(comment, is_placed)
-- from verify_prelude: name (what the key ends with: a number, a username or a group), report(where, found, expected, repair),
--   examine(number) -> article | nil, reply (the next cursor, then four values of each finding),
--   expect_number(hash, field, found, value), repairing (whether findings are repaired)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       tree: an article's comments by branch path   stubs: those comments of a tree that are not visible
--       replies: replies to an article or comment, by the value of an order
--       removing: articles and comments still to be removed or to enter or leave lists, in steps
-- ARGV  1-6 for prelude.lua: 3 now (unix milliseconds)   7 "repair" to repair what is wrong, else ""
--       8 `name`, the last part of the key: a number   9 "article" or "comment"
-- Reply {"0", then of each finding: key with field or member, found value, expected value, "repaired" or ""}
local function verify_activity(article)
  local found = article.active
  article.active = article.comments > 0 and newest_time(name, article.time) or article.time
  local expected = article.active > article.time and string.format("%.0f", article.active) or nil
  if (found or nil) ~= expected then
    report(article.hash .. " active", found, expected, function() write_activity(article) end)
  end
end

if ARGV[9] == "article" then
  local article = examine(name)
  if not article then return reply end  -- deleted meanwhile: its comments go next
  local found = article.comments
  article.comments = redis.call("ZCARD", KEY.tree .. name) - redis.call("ZCARD", KEY.stubs .. name)
  expect_number(article.hash, "comments", found or 0, article.comments)
  if article.time then verify_activity(article) end
  if repairing and reply[2] and not article.invalid[1] then index_activity(article) end -- `reply[2]`: a finding
  return reply
end

local comment = find_comment(name)
if not comment or not comment.path then return reply end
if not find_article_info(comment.article) then return reply end -- it is being removed; verify_comment.lua reports it if not

-- Whether some comment below is hidden. Others that are not visible are deleted ones, which stay because of those below.
local function is_above_hidden()
  local from, to = descendants_of(comment.path)
  for _, member in ipairs(redis.call("ZRANGEBYLEX", KEY.stubs .. comment.article, from, to)) do
    local number = string.match(member, " (%d+)$")
    if redis.call("HGET", KEY.comment .. number, "state") ~= "deleted" then return true end
  end
  return false
end

local count = redis.call("ZCARD", KEY.replies .. name .. ":best")
local is_leftover = comment.state == "deleted" and count == 0 and not redis.call("ZSCORE", KEY.removing, name)
if is_leftover and not has_descendants(comment) then
  report(comment.hash, "there", "nothing, as it is deleted and has no replies", function()
    redis.call("ZADD", KEY.removing, now, name)
  end)
  return reply
end
if count > 0 then -- hidden replies with visible comments below are in the index, too
  local from, to = descendants_of(comment.path)
  for _, member in ipairs(redis.call("ZRANGEBYLEX", KEY.stubs .. comment.article, from, to)) do
    local number = string.match(member, " (%d+)$")
    local above, bare = unpack(redis.call("HMGET", KEY.comment .. number, "parent", "bare"))
    if above == name and not bare then count = count - 1 end
  end
end
expect_number(comment.hash, "replies", comment.replies or 0, count)

local is_placed = has_place(comment)
local is_wrong = is_placed ~= not comment.bare and redis.call("EXISTS", KEY.removing) == 0 -- else places may be updated soon
if is_wrong and (comment.state ~= "deleted" or is_placed or is_above_hidden()) then
  report(comment.hash .. " bare", comment.bare, not is_placed and "1" or nil, function() set_place(comment, is_placed) end)
end
return reply
