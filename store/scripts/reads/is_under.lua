-- Find out which of some comments are descendants of another one, the comment above.
-- requires: branch_paths
-- from branch_paths: parse_path(stored) -> {text, index}, label_of(path) -> text, decode(text, place) -> (number, next place)
-- A comment has a branch path, a text and an index: the first reply to a comment has its text and the next index, and each
-- further reply a longer text. The label of a path is both as one text.
-- KEYS  of partition p: 1 comment:{p}: (a number is appended)
-- ARGV  1 number of the comment above   then the numbers of the others
-- Reply 1 or 0 for each
local article, stored = unpack(redis.call("HMGET", KEYS[1] .. ARGV[1], "article", "path"))
local above = stored and parse_path(stored)

-- Whether a path is below the comment above: its label begins with the text of that comment, then has a higher index
-- (a later reply in the same chain), or the same index and more behind it (a side path).
local function is_below(path)
  local label = label_of(path)
  if string.sub(label, 1, #above.text) ~= above.text or #label == #above.text then return false end
  local index = decode(label, #above.text + 1)
  return index > above.index or index == above.index and #label > #label_of(above)
end

local reply = {}
for i = 2, #ARGV do
  local article_of_other, path = unpack(redis.call("HMGET", KEYS[1] .. ARGV[i], "article", "path"))
  reply[i - 1] = above and path and article_of_other == article and is_below(parse_path(path)) and 1 or 0
end
return reply
