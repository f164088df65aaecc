-- Delete a comment, if the actor is its poster. While it has replies, a stub without content and poster is left. A stub
-- whose last reply goes is removed, too.
-- KEYS  see comments.lua
-- ARGV  1-7 see comments.lua   8 number   9 how many stubs to remove at most, as the script blocks the server
-- Reply {"deleted", id of the entry, what `note_effects` returns, poster, change of the poster's karma, `notified`, 1 if
--       stubs are still to be removed, else 0} | {"missing"} | {"forbidden"} | {"unauthenticated"}
local deleter = actor()
if not deleter then return {"unauthenticated"} end

local comment = find_comment(ARGV[8])
if not comment or comment.state == "deleted" or not find_home(comment.article) then return {"missing"} end
if comment.poster ~= deleter then return {"forbidden"} end

local function leave_stub()
  redis.call("HSET", comment.hash, "state", "deleted")
  redis.call("HDEL", comment.hash, "poster", "slot", "content", "edited", "notified", "imported")
  redis.call("DEL", VOTED .. comment.number, DOWNVOTED .. comment.number)
  redis.call("ZADD", STUBS .. comment.article, 0, tree_member(comment.path, comment.number))
end

local groups = count_comment(comment, -1)
local removed, more, is_stub = {}, nil, has_descendants(comment)
if is_stub then
  leave_stub()
else
  drop_comment(comment)
  removed, more = remove_stubs(comment.parent, tonumber(ARGV[9]))
end
local id, noted, karma = log_removal(comment, deleter, is_stub and "1" or "", table.concat(removed, " "), groups)
return {"deleted", id, noted, comment.poster, karma, comment.notified or "", more and 1 or 0}
