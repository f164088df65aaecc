-- Read a page of the replies to a comment or an article: by the value of an order, then by member. Each order has an
-- index, but few replies have only that of `best`.
-- requires: page_ranks, reply_indexes
-- from page_ranks: page_ranks(direction, count, skip, total, count_before) -> (from, to),
--   page_reply(above, total, entries) -> "above total member value ..."
-- from reply_indexes: read_index(siblings, order, comment_prefix, is_ascending) -> key | list, size_of(index) -> number,
--   count_before(index, value, member, including, is_ascending) -> number,
--   members_at(index, first, last, is_ascending) -> {member, value, ...}
-- KEYS  of partition p: 1 comment:{p}: (a comment's number is appended)   2 replies:{p}:NUMBER: (an order is appended)
-- ARGV  1 order: best, votes, time, controversial   2 "desc": highest values first; "asc": lowest first
--       3 "down": the replies that follow a position; "up": those that precede it   4 number of replies
--       5 replies to skip at the top, if there is no position   6 value and 7 member of the position, or ""
-- Reply "above total member value ...": replies above these, all replies, then these
local is_ascending = ARGV[2] == "asc"
local index = read_index(KEYS[2], ARGV[1], KEYS[1], is_ascending)
local total = size_of(index)

local function before_position(including)
  return count_before(index, ARGV[6], ARGV[7], including, is_ascending)
end

local from, to =
  page_ranks(ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), total, ARGV[6] ~= "" and before_position or nil)
return page_reply(from, total, from < to and members_at(index, from, to - 1, is_ascending) or {})
