-- Count the visible descendants of some comments of one partition.
-- requires: branch_paths
-- from branch_paths: count_descendants(tree, stubs, path) -> number, parse_path(stored) -> {text, index}
-- KEYS  1 comment:{p}:   2 tree:{p}:, all comments of an article by branch path
--       3 stubs:{p}:, those of them that are not visible (a number is appended to each)
-- ARGV  numbers of comments
-- Reply the number of descendants of each; 0 for a comment that is gone
local counts = {}
for i, number in ipairs(ARGV) do
  local article, stored = unpack(redis.call("HMGET", KEYS[1] .. number, "article", "path"))
  counts[i] = stored and count_descendants(KEYS[2] .. article, KEYS[3] .. article, parse_path(stored)) or 0
end
return counts
