-- Functions that read the replies to a comment or an article in the order of a thread. Stands after formulas.lua,
-- branch_paths.lua and index_rank.lua, before thread_page.lua.
-- KEYS  1 comment:{p}: (a comment's number is appended)   2 replies:{p}: (a number, ":" and an index are appended)
--       3 tree:{p}:ARTICLE   4 stubs:{p}:ARTICLE   5 moves:{p}
-- ARGV  1 number of the article or comment whose descendants are the thread   2 index: best, votes, time, controversial
--       3 "desc": highest values first; "asc": lowest first   4 "down": the places that follow the cursor; "up": those
--       that precede it   5 number of places   6 greatest depth, 0 for the replies to 1   7 best_z
--       8 number of the last move when the walk began, or ""   from 9 on, for the place of the cursor and those of its
--       ancestors that the cursor has, outermost first: depth, value, number with 16 digits
local COMMENT, REPLIES, TREE, STUBS = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local index, is_ascending, is_backward = ARGV[2], ARGV[3] == "asc", ARGV[4] == "up"
local moves_before = ARGV[8] ~= "" and ARGV[8] or redis.call("GET", KEYS[5]) or "0"
local FIRST_CHUNK, LARGEST_CHUNK = 8, 512
local best_z = tonumber(ARGV[7])

local function number_of(member)
  return string.match(member, "^0*(%d+)$")
end

local function replies_of(number)
  return REPLIES .. number .. ":" .. index
end

-- How many siblings precede a position in the order of the thread; with `including`, the one at the position, too.
local function count_before(key, value, member, including)
  local present = redis.call("ZSCORE", key, member)
  if present and tonumber(present) == tonumber(value) then -- it has not moved
    return redis.call(is_ascending and "ZRANK" or "ZREVRANK", key, member) + (including and 1 or 0)
  end
  if is_ascending then return redis.call("ZCARD", key) - rank_of(key, value, member, not including) end
  return rank_of(key, value, member, including)
end

-- The siblings with these ranks in the order of the thread: member, value, ... A negative rank counts from the end.
local function siblings(key, first, last)
  if is_ascending then return redis.call("ZRANGE", key, first, last, "WITHSCORES") end
  return redis.call("ZRANGE", key, first, last, "REV", "WITHSCORES")
end

-- Reads the next siblings of a frame, in the direction of the page, into its buffer.
local function fill(frame)
  local chunk, found = frame.chunk or FIRST_CHUNK, nil
  frame.chunk = math.min(chunk * 2, LARGEST_CHUNK)
  if not frame.rank then -- behind a position, or at the end of all
    local from = frame.beyond
    frame.rank = from and count_before(frame.key, from.value, from.member, not is_backward) or 0
  end
  if not is_backward then
    found = siblings(frame.key, frame.rank, frame.rank + chunk - 1)
    frame.rank = frame.rank + chunk
  elseif frame.beyond then
    local first = math.max(frame.rank - chunk, 0)
    found = frame.rank > 0 and siblings(frame.key, first, frame.rank - 1) or {}
    frame.rank = first
  else
    found = siblings(frame.key, frame.rank - chunk, frame.rank - 1)
    frame.rank = frame.rank - chunk
  end
  frame.buffer, frame.at = found, is_backward and #found - 1 or 1
  frame.is_last = #found < 2 * chunk
end

-- The greatest and the least value that a comment may have had with counts between these.
local function value_bounds(up_low, up_high, down_low, down_high)
  if index == "votes" then return up_high - down_low, up_low - down_high end
  if index == "best" then
    return best(up_high, up_high + down_low, best_z), best(up_low, up_low + down_high, best_z)
  end
  if up_low == up_high and down_low == down_high then
    local value = controversial(up_low, down_low)
    return value, value
  end
  return up_high + down_high, 0
end

local function is_above(value, member, from)
  local other = tonumber(from.value)
  return value > other or value == other and member > from.member
end

-- Whether a comment has been on the other side of a position since the walk began, so that an earlier page may have had it.
local function was_passed(member, from)
  if member == from.member then return true end
  if index == "time" then return false end
  local moves = redis.call("HGET", COMMENT .. number_of(member), "moves")
  for move, up_low, up_high, down_low, down_high in string.gmatch(moves or "", "(%d+) (%d+) (%d+) (%d+) (%d+)") do
    if tonumber(move) > tonumber(moves_before) then
      local high, low = value_bounds(tonumber(up_low), tonumber(up_high), tonumber(down_low), tonumber(down_high))
      if is_backward then
        if not is_above(low, member, from) then return true end
      elseif is_above(high, member, from) then
        return true
      end
    end
  end
  return false
end

-- A frame reads the replies to one comment, or to the article, in the direction of the page. `beyond` is the position
-- after which it begins; without it, it begins at the end of all.
local function new_frame(parent, depth, beyond, owner)
  return {key = replies_of(parent), depth = depth, beyond = beyond, owner = owner, buffer = {}, at = 1}
end

-- The next sibling of a frame: member and value; nil at the end.
local function next_sibling(frame)
  while true do
    local member, value = frame.buffer[frame.at], frame.buffer[frame.at + 1]
    if member then
      frame.at = frame.at + (is_backward and -2 or 2)
      if not (frame.beyond and was_passed(member, frame.beyond)) then return member, value end
    elseif frame.is_last then
      return nil
    else
      fill(frame)
      if not frame.buffer[1] then return nil end
    end
  end
end

