-- Functions that add comments to the tree of their article and remove them. branch_paths.lua says what a path is: the
-- first reply to a comment continues the path of the comment, and each further reply begins a side path.
-- requires: comments
-- from branch_paths: encode(number) -> digits, label_of(path) -> text, decode(text, place) -> (number, next place),
--   tree_member(path, number) -> LABEL NUMBER
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       tree: an article's comments by branch path   stubs: those comments of a tree that are not visible
local SWAPPED_UP_TO = 64 -- a side path of more comments is not swapped with the continuation: that would take too long

-- The path of a new reply to the comment, or the article, with this path.
local function next_path(tree, path)
  local continuation = path.text .. encode(path.index + 1)
  if redis.call("ZLEXCOUNT", tree, "[" .. continuation, "(" .. path.text .. "~") == 0 then
    return {text = path.text, index = path.index + 1}
  end
  local label = label_of(path)
  local last = redis.call("ZREVRANGEBYLEX", tree, "(" .. continuation, "[" .. label .. "!", "LIMIT", 0, 1)[1]
  local side = last and decode(last, #label + 1) + 1 or 0
  return {text = label .. encode(side), index = 0}
end

-- The path and the number of the comment of a member of a tree, LABEL NUMBER.
local function parse_member(member)
  local label, number = string.match(member, "^(%S+) (%d+)$")
  local place, last = 1, 1
  local index
  while place <= #label do
    last = place
    index, place = decode(label, place)
  end
  return {text = string.sub(label, 1, last - 1), index = index}, number
end

local function write_path(number, path)
  redis.call("HSET", KEY.comment .. number, "path", path.text .. " " .. string.format("%.0f", path.index))
end

-- Removes a range from the tree and returns its members.
local function take_out(tree, from, to)
  local members = redis.call("ZRANGEBYLEX", tree, from, to)
  redis.call("ZREMRANGEBYLEX", tree, from, to)
  return members
end

-- Adds members to the tree again, on other paths. Each member begins with `length` characters and an index; they are
-- replaced by `text` and the index + `shift`.
local function put_back(tree, stubs, members, length, text, shift)
  for _, member in ipairs(members) do
    local index, rest = decode(member, length + 1)
    local moved = text .. encode(index + shift) .. string.sub(member, rest)
    redis.call("ZADD", tree, 0, moved)
    if redis.call("ZREM", stubs, member) == 1 then redis.call("ZADD", stubs, 0, moved) end
    local path, number = parse_member(moved)
    write_path(number, path)
  end
end

-- Exchanges the comments of a side path, `side`, with those of the continuation of the path `outer`.
local function swap(tree, stubs, outer, side)
  local side_members = take_out(tree, "[" .. side, "(" .. side .. "~")
  local continuing_members = take_out(tree, "[" .. outer.text .. encode(outer.index + 1), "(" .. outer.text .. "~")
  put_back(tree, stubs, side_members, #side, outer.text, outer.index + 1)
  put_back(tree, stubs, continuing_members, #outer.text, side, -outer.index - 1)
end

-- Looks at the side paths that a new comment is in, the innermost first: one that has more than twice as many comments
-- as the continuation beside it is swapped with that, unless it is long. So long chains of replies become
-- continuations, few side paths are nested, and labels stay short. `text` is the text of the new comment's path.
local function rebalance(tree, stubs, text)
  local starts, place = {}, 1 -- where the numbers of the text begin: an index, then that of a side path, and so on
  while place <= #text do
    starts[#starts + 1] = place
    local _, next = decode(text, place)
    place = next
  end
  for i = #starts, 2, -2 do
    local side = string.sub(text, 1, (starts[i + 1] or #text + 1) - 1)
    local outer = {text = string.sub(text, 1, starts[i - 1] - 1), index = (decode(text, starts[i - 1]))}
    local size = redis.call("ZLEXCOUNT", tree, "[" .. side, "(" .. side .. "~")
    if size > SWAPPED_UP_TO then return end
    local continuation = "[" .. outer.text .. encode(outer.index + 1)
    local continuing = redis.call("ZLEXCOUNT", tree, continuation, "(" .. outer.text .. "~")
    if size > 2 * continuing then swap(tree, stubs, outer, side) end
  end
end

-- Adds a comment whose hash is written to the tree, below its parent's path.
local function add_to_tree(comment, parent_path)
  local tree = KEY.tree .. comment.article
  comment.path = next_path(tree, parent_path)
  write_path(comment.number, comment.path)
  redis.call("ZADD", tree, 0, tree_member(comment.path, comment.number))
  rebalance(tree, KEY.stubs .. comment.article, comment.path.text)
end

local function remove_from_tree(comment)
  local member = tree_member(comment.path, comment.number)
  redis.call("ZREM", KEY.tree .. comment.article, member)
  redis.call("ZREM", KEY.stubs .. comment.article, member)
end
