-- Read a page of the replies to a comment or an article: by value, then by member.
-- requires: reply_indexes
-- from reply_indexes: read_index(siblings, order, comment_prefix, is_ascending) -> key | list, size_of(index) -> number,
--   count_before(index, value, member, including, is_ascending) -> number,
--   members_at(index, first, last, is_ascending) -> {member, value, ...}
-- KEYS  1 comment:{p}: (a comment's number is appended)   2 replies:{p}:NUMBER: (an order is appended)
-- ARGV  1 order: best, votes, time, controversial   2 "desc": highest values first; "asc": lowest first
--       3 "down": the replies that follow a position; "up": those that precede it   4 number of replies
--       5 replies to skip at the top, if there is no position   6 value and 7 member of the position, or ""
-- Reply "above total member value ...": replies above these, all replies, then these
local is_ascending = ARGV[2] == "asc"
local index = read_index(KEYS[2], ARGV[1], KEYS[1], is_ascending)
local count, skip, value, member = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6], ARGV[7]
local total = size_of(index)
local from, to
if ARGV[3] == "down" then
  from = value ~= "" and count_before(index, value, member, true, is_ascending) or math.min(skip, total)
  to = math.min(from + count, total)
else
  to = value ~= "" and count_before(index, value, member, false, is_ascending) or total
  from = math.max(0, to - count)
end

local reply = from < to and members_at(index, from, to - 1, is_ascending) or {}
table.insert(reply, 1, total)
table.insert(reply, 1, from)
return table.concat(reply, " ")
