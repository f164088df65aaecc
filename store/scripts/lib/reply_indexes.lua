-- Functions that read an index of the replies to a comment or an article. Where these are few, only the index `best` is
-- stored: the others are computed from the hashes of the comments.
-- requires: few_replies, formulas, index_rank
-- from few_replies: FEW_REPLIES (to one comment or article: only more have the indexes of all orders)
-- from formulas: controversial(up, down)
-- from index_rank: rank_of(key, value, member, including) -> number of members above, or with `including` at or above it
--
-- An index is here the key of a sorted set, or a list of its members with their values as text ({member, value, ...}), with a
-- table `values` of the values by member. A list is in the order in which it is read: with `is_ascending` the lowest value, and
-- of equal values the lowest member, is first, else the highest.
local NO_REPLIES = {values = {}}

local function compute_value(order, up, down, time) --> text
  if order == "time" then return time end
  return string.format("%.17g", order == "votes" and up - down or controversial(up, down))
end

local function is_before(value, member, other_value, other, is_ascending)
  if value == other_value then return is_ascending and member < other or not is_ascending and member > other end
  if is_ascending then return value < other_value end
  return value > other_value
end

local function compute_index(members, order, comment_prefix, is_ascending) --> list
  local list, found, values = {}, {}, {}
  for _, member in ipairs(members) do
    local hash = comment_prefix .. string.match(member, "^0*(%d+)$")
    local up, down, time = unpack(redis.call("HMGET", hash, "up", "down", "time"))
    if up then found[#found + 1], values[member] = member, compute_value(order, tonumber(up), tonumber(down), time) end
  end
  if found[2] then
    table.sort(found, function(one, other)
      return is_before(tonumber(values[one]), one, tonumber(values[other]), other, is_ascending)
    end)
  end
  for i, member in ipairs(found) do list[2 * i - 1], list[2 * i] = member, values[member] end
  list.values = values
  return list
end

-- The index of an order (best, votes, time, controversial). `siblings` is what its key has before the order,
-- `comment_prefix` what keys of comments begin with.
local function read_index(siblings, order, comment_prefix, is_ascending) --> key | list
  if order == "best" then return siblings .. order end
  local members = redis.call("ZRANGE", siblings .. "best", 0, FEW_REPLIES)
  if not members[1] then return NO_REPLIES end
  if #members > FEW_REPLIES then return siblings .. order end
  return compute_index(members, order, comment_prefix, is_ascending)
end

-- The value of a member of an index; false or nil if it has no such member.
local function value_in(index, member) --> text | false | nil
  if type(index) == "table" then return index.values[member] end
  return redis.call("ZSCORE", index, member)
end

local function size_of(index) --> number
  return type(index) == "table" and #index / 2 or redis.call("ZCARD", index)
end

-- The members with these ranks, and their values. A negative rank counts from the end.
local function members_at(index, first, last, is_ascending) --> {member, value, ...}
  if type(index) == "string" then
    if is_ascending then return redis.call("ZRANGE", index, first, last, "WITHSCORES") end
    return redis.call("ZRANGE", index, first, last, "REV", "WITHSCORES")
  end
  local count, found = #index / 2, {}
  if first < 0 then first = math.max(first + count, 0) end
  if last < 0 then last = last + count end
  for place = 2 * first + 1, 2 * math.min(last + 1, count) do found[#found + 1] = index[place] end
  return found
end

local function count_in_list(list, value, member, including, is_ascending)
  for place = 1, #list, 2 do
    local other, other_value = list[place], tonumber(list[place + 1])
    local is_counted = including and other == member and other_value == value
    if not is_counted and not is_before(other_value, other, value, member, is_ascending) then return (place - 1) / 2 end
  end
  return #list / 2
end

-- How many members precede a position; with `including`, the one at the position, too. The position itself may be missing.
local function count_before(index, value, member, including, is_ascending) --> number
  if type(index) == "table" then return count_in_list(index, tonumber(value), member, including, is_ascending) end
  local present = redis.call("ZSCORE", index, member)
  if present and tonumber(present) == tonumber(value) then -- it has not moved
    return redis.call(is_ascending and "ZRANK" or "ZREVRANK", index, member) + (including and 1 or 0)
  end
  if is_ascending then return size_of(index) - rank_of(index, value, member, not including) end
  return rank_of(index, value, member, including)
end
