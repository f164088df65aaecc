-- Delete a comment, if the actor is its poster. While it has replies, a stub without content and poster is left. A stub
-- whose last reply goes is removed, too.
-- KEYS  see comments.lua
-- ARGV  1-7 see comments.lua   8 number   9 how many stubs to remove at most, as the script blocks the server
-- Reply {"deleted", id of the entry, what `note_effects` returns, poster, change of the poster's karma} | {"missing"} | {"forbidden"} | {"unauthenticated"}
local deleter = actor()
if not deleter then return {"unauthenticated"} end

local comment = find_comment(ARGV[8])
if not comment or comment.state == "deleted" or not find_home(comment.article) then return {"missing"} end
if comment.poster ~= deleter then return {"forbidden"} end

local tree, stubs = TREE .. comment.article, STUBS .. comment.article

local function has_descendants(each)
  return redis.call("ZLEXCOUNT", tree, descendants_of(each.path)) > 0
end

local function leave_stub()
  redis.call("HSET", comment.hash, "state", "deleted")
  redis.call("HDEL", comment.hash, "poster", "slot", "content", "edited", "notified", "imported")
  redis.call("DEL", VOTED .. comment.number, DOWNVOTED .. comment.number)
  redis.call("ZADD", stubs, 0, tree_member(comment.path, comment.number))
end

-- Removes the stubs above a removed comment that have no replies left, and returns their numbers.
local function remove_stubs()
  local removed, parent = {}, comment.parent
  while parent and #removed < tonumber(ARGV[9]) do
    local stub = find_comment(parent)
    if not stub or stub.state ~= "deleted" or has_descendants(stub) then break end
    drop_comment(stub)
    removed[#removed + 1] = stub.number
    parent = stub.parent
  end
  return table.concat(removed, " ")
end

local groups = count_comment(comment, -1)
local removed, is_stub = "", has_descendants(comment)
if is_stub then
  leave_stub()
else
  drop_comment(comment)
  removed = remove_stubs()
end
local id, noted, karma = log_removal(comment, deleter, is_stub and "1" or "", removed, groups)
return {"deleted", id, noted, comment.poster, karma}
