-- Remove some comments of a deleted article, descendants first, or some stubs that have no replies left. Repeated until
-- none is left.
-- KEYS  see comments.lua
-- ARGV  1-7 see comments.lua   8 number of the article, or of the lowest stub   9 how many comments to remove at most
-- Reply {number to go on with, or "", and in one list, for each other partition that has effects of the entries: its
--       number and the id of the last entry with an effect there}
local article = ARGV[8]
require_open()

-- Removes stubs, if their article exists. Otherwise they go with its other comments.
local function remove_more_stubs(lowest)
  redis.call("ZREM", REMOVING, lowest.number)
  if not find_home(lowest.article) then return {"", {}} end
  local removed, next = remove_stubs(lowest.number, tonumber(ARGV[9]))
  if removed[1] then log_stubs(lowest, table.concat(removed, " ", 2)) end
  return {next or "", {}}
end

local stub = find_comment(ARGV[8])
if stub then return remove_more_stubs(stub) end
if redis.call("EXISTS", ARTICLE .. article) == 1 then return {"", {}} end

local tree, last = TREE .. article, {}
for _, member in ipairs(redis.call("ZREVRANGEBYLEX", tree, "+", "-", "LIMIT", 0, ARGV[9])) do
  local comment = find_comment(string.match(member, " (%d+)$"))
  if comment then
    drop_comment(comment)
    if comment.state ~= "deleted" then
      local id, noted = log_removal(comment, "", "", "")
      for i = 1, #noted, 2 do last[noted[i]] = id end
    end
  end
  redis.call("ZREM", tree, member)
end

local flat = {}
for target, id in pairs(last) do
  flat[#flat + 1] = target
  flat[#flat + 1] = id
end
if redis.call("EXISTS", tree) == 1 then return {article, flat} end
redis.call("DEL", STUBS .. article, PINS .. article)
redis.call("ZREM", REMOVING, article)
return {"", flat}
