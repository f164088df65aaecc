-- Remove some comments of a deleted article, descendants first. Repeated until none is left.
-- KEYS  see comments.lua
-- ARGV  1-7 see comments.lua   8 number of the article   9 how many comments to remove at most
-- Reply {"more" | "done", id of the last entry, what `note_effects` returns of all entries}
local article = ARGV[8]
require_open()
if redis.call("EXISTS", ARTICLE .. article) == 1 then return {"done", "", {}} end

local tree, last, before = TREE .. article, "", {}
for _, member in ipairs(redis.call("ZREVRANGEBYLEX", tree, "+", "-", "LIMIT", 0, ARGV[9])) do
  local comment = find_comment(string.match(member, " (%d+)$"))
  if comment then
    drop_comment(comment)
    if comment.state ~= "deleted" then
      local id, noted = log_removal(comment, "", "", "")
      last = id
      for i = 1, #noted, 2 do
        if not before[noted[i]] then before[noted[i]] = noted[i + 1] end
      end
    end
  end
  redis.call("ZREM", tree, member)
end

local flat = {}
for target, id in pairs(before) do
  flat[#flat + 1] = target
  flat[#flat + 1] = id
end
if redis.call("EXISTS", tree) == 1 then return {"more", last, flat} end
redis.call("DEL", STUBS .. article, PINS .. article)
redis.call("ZREM", REMOVING, article)
return {"done", last, flat}
