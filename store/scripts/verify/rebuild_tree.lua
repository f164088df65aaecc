-- Build the tree of an article anew (the sorted set of its comments by branch path), from the indexes of the replies,
-- with the numbers of visible replies. Comments that are in no index, as no thread has a place for them, are
-- taken from the tree before. Blocks the server for some 20 microseconds for each comment.
-- requires: comment_removal
-- from prelude: require_writable()
-- from branch_paths: tree_member(path, number) -> LABEL NUMBER
-- from comments: find_comment(number) -> fields by name | nil, ARTICLE_PATH (the branch path of any article)
-- from comment_tree: add_to_tree(comment, parent_path)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       tree: an article's comments by branch path   stubs: those comments of a tree that are not visible
--       replies: replies to an article or comment, by the value of an order
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 "", which is not used here   8 number of the article
-- Reply {"rebuilt", number of comments}
require_writable()
local article = ARGV[8]

-- The members, as in indexes, of the comments that no thread has a place for, by what they answer.
local bare = {}
for _, member in ipairs(redis.call("ZRANGE", KEY.tree .. article, 0, -1)) do
  local comment = find_comment(string.match(member, " (%d+)$") or "")
  if comment and comment.bare then
    local above = comment.parent or comment.article
    bare[above] = bare[above] or {}
    table.insert(bare[above], comment.member)
  end
end
redis.call("DEL", KEY.tree .. article, KEY.stubs .. article)

-- Adds the replies to a comment, or to the article, and returns their numbers and how many are visible.
local function add_replies(parent, path)
  local added, visible, members = {}, 0, redis.call("ZRANGE", KEY.replies .. parent .. ":best", 0, -1)
  for _, member in ipairs(bare[parent] or {}) do members[#members + 1] = member end
  table.sort(members) -- the first of them continues the path of the parent
  for _, member in ipairs(members) do
    local comment = find_comment(string.match(member, "^0*(%d+)$"))
    if comment and comment.article == article then
      add_to_tree(comment, path)
      added[#added + 1] = comment.number
      if comment.state then
        redis.call("ZADD", KEY.stubs .. article, 0, tree_member(find_comment(comment.number).path, comment.number))
      else
        visible = visible + 1
      end
    end
  end
  return added, visible
end

local parents, total, count = {article}, 0, 0
while #parents > 0 do
  local number = table.remove(parents)
  local comment = number ~= article and find_comment(number)
  local added, visible = add_replies(number, comment and comment.path or ARTICLE_PATH)
  if comment and tonumber(comment.replies or 0) ~= visible then redis.call("HSET", comment.hash, "replies", visible) end
  for _, each in ipairs(added) do parents[#parents + 1] = each end
  total, count = total + visible, count + #added
end
local hash = KEY.article .. article
if redis.call("EXISTS", hash) == 1 then redis.call("HSET", hash, "comments", total) end
return {"rebuilt", count}
