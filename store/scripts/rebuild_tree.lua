-- Build the tree of an article anew, from the indexes of the replies by time, with the numbers of visible replies. Blocks
-- the server for some 20 microseconds for each comment.
-- KEYS  see comments.lua
-- ARGV  1-6 see prelude.lua   7 ""   8 number of the article
-- Reply {"rebuilt", number of comments}
require_open()
local article = ARGV[8]
redis.call("DEL", TREE .. article, STUBS .. article)

-- Adds the replies to a comment, or to the article, and returns their numbers and how many are visible.
local function add_replies(parent, path)
  local added, visible = {}, 0
  for _, member in ipairs(redis.call("ZRANGE", REPLIES .. parent .. ":time", 0, -1)) do
    local comment = find_comment(string.match(member, "^0*(%d+)$"))
    if comment and comment.article == article then
      add_to_tree(comment, path)
      added[#added + 1] = comment.number
      if comment.state == "deleted" then
        redis.call("ZADD", STUBS .. article, 0, tree_member(find_comment(comment.number).path, comment.number))
      else
        visible = visible + 1
      end
    end
  end
  return added, visible
end

local pending, total, count = {article}, 0, 0
while #pending > 0 do
  local number = table.remove(pending)
  local comment = number ~= article and find_comment(number)
  local added, visible = add_replies(number, comment and comment.path or ARTICLE_PATH)
  if comment and tonumber(comment.replies or 0) ~= visible then redis.call("HSET", comment.hash, "replies", visible) end
  for _, each in ipairs(added) do pending[#pending + 1] = each end
  total, count = total + visible, count + #added
end
if redis.call("EXISTS", ARTICLE .. article) == 1 then redis.call("HSET", ARTICLE .. article, "comments", total) end
return {"rebuilt", count}
