-- Find out which of some comments are descendants of another one.
-- KEYS  1 comment:{p}: (a number is appended)
-- ARGV  1 number of the comment above   then the numbers of the others
-- Reply 1 or 0 for each
local article, stored = unpack(redis.call("HMGET", KEYS[1] .. ARGV[1], "article", "path"))
local above = stored and parse_path(stored)

-- Whether a path begins as that of the comment above, and goes on after it.
local function is_below(path)
  local label = label_of(path)
  if string.sub(label, 1, #above.text) ~= above.text or #label == #above.text then return false end
  local index = decode(label, #above.text + 1)
  return index > above.index or index == above.index and #label > #label_of(above)
end

local reply = {}
for i = 2, #ARGV do
  local other, path = unpack(redis.call("HMGET", KEYS[1] .. ARGV[i], "article", "path"))
  reply[i - 1] = above and path and other == article and is_below(parse_path(path)) and 1 or 0
end
return reply
