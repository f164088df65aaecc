-- Functions that read the replies to a comment or an article in the order of a thread. A walk is somebody's reading of
-- a thread from page to page. Votes move comments meanwhile; these moves are numbered. A pinned walk has the order of
-- the moment when its pin was made: the key `pinned` keeps, of each comment that was moved since, the value that
-- it had then.
-- requires: branch_paths, formulas, reply_indexes
-- from formulas: best(up, votes, z), controversial(up, down)
-- from reply_indexes: read_index(siblings, order, comment_prefix, is_ascending) -> key | list,
--   value_in(index, member) -> text | false | nil, count_before(index, value, member, including, is_ascending) -> number,
--   members_at(index, first, last, is_ascending) -> {member, value, ...}
-- KEYS  of partition p: 1 comment:{p}: (a number is appended)   2 replies:{p}: (a number, ":" and an index are appended)
--       3 tree:{p}:ARTICLE   4 stubs:{p}:ARTICLE   5 moves:{p}   6 pins:{p}:ARTICLE
--       7 pinned:{p}: (a number, ":" and the name of a pin are appended)   8 moved:{p}:ARTICLE
-- ARGV  1 number of the article or comment whose descendants are the thread   2 index: best, votes, time, controversial
--       3 "desc": highest values first; "asc": lowest first   4 "down": the places that follow the cursor; "up": those
--       that precede it   5 number of places   6 greatest depth, 0 for the replies to 1   7 best_z
--       8 number of the last move when the walk began, or when its pin was made, or ""   9 for a pinned walk the highest
--       number of a comment that it shows, else ""   from 10 on, for the place of the cursor and those of its ancestors
--       that the cursor has, outermost first: depth, value, number with 16 digits
local COMMENT = KEYS[1] -- what the keys of comments begin with
local TREE = KEYS[3] -- the key of all comments of the article, by branch path
local STUBS = KEYS[4] -- the key of those comments in it that are not visible
local REPLIES, PINNED = KEYS[2], KEYS[7]
local index = ARGV[2] -- the order of replies
local is_backward = ARGV[4] == "up" -- whether the places before the cursor are wanted
local is_ascending = ARGV[3] == "asc"
local moves_before = ARGV[8] ~= "" and ARGV[8] or redis.call("GET", KEYS[5]) or "0" -- the number of the last move when the walk began
local FIRST_CHUNK, LARGEST_CHUNK = 8, 512 -- siblings read at once, at first and at most
local best_z = tonumber(ARGV[7])
local newest = tonumber(ARGV[9]) -- the highest number of a comment that a pinned walk shows
local pin = index .. ":" .. moves_before -- the name of the pin of a pinned walk
local is_pinned = newest and (index == "time" or redis.call("ZSCORE", KEYS[6], pin)) and true or false -- whether the walk is pinned

local function number_of(member)
  return string.match(member, "^0*(%d+)$")
end

local computed = {} -- indexes that are not stored, by the number of the parent

local function replies_of(number) --> key | list
  local known = computed[number]
  if known then return known end
  local found = read_index(REPLIES .. number .. ":", index, COMMENT, is_ascending)
  if type(found) == "table" then computed[number] = found end
  return found
end

local function places_at_pin(number)
  return PINNED .. number .. ":" .. pin
end

-- The value of a sibling: as it was when the walk was pinned, or as it is.
local function value_of(parent, member)
  local at_pin = is_pinned and redis.call("ZSCORE", places_at_pin(parent), member)
  return at_pin or value_in(replies_of(parent), member)
end

-- Whether a thread has no place for a comment, as it is hidden and has no visible descendants.
local function is_bare(member)
  return redis.call("HEXISTS", COMMENT .. number_of(member), "bare") == 1
end

-- Whether a comment was posted after a pinned walk began.
local function is_new(number)
  return is_pinned and tonumber(number) > newest
end

-- A reader reads the siblings of one index in the direction of the page, after the position `beyond`, or without one from
-- the end at which a page in this direction begins. `buffer` has siblings that were read, {member, value, ...}, and `at` is
-- the place of the next one in it.
local UNREAD = {}
local function new_reader(siblings, beyond)
  return {siblings = siblings, beyond = beyond, buffer = UNREAD, at = 1}
end

-- Reads the next siblings into the buffer of a reader.
local function fill(reader)
  local chunk, found = reader.chunk or FIRST_CHUNK, nil
  reader.chunk = math.min(chunk * 2, LARGEST_CHUNK)
  if not reader.rank then -- the first read
    local from = reader.beyond
    reader.rank = from and count_before(reader.siblings, from.value, from.member, not is_backward, is_ascending) or 0
  end
  if not is_backward then
    found = members_at(reader.siblings, reader.rank, reader.rank + chunk - 1, is_ascending)
    reader.rank = reader.rank + chunk
  elseif reader.beyond then
    local first = math.max(reader.rank - chunk, 0)
    found = reader.rank > 0 and members_at(reader.siblings, first, reader.rank - 1, is_ascending) or {}
    reader.rank = first
  else -- from the end on: ranks below 0, as ZRANGE has them
    found = members_at(reader.siblings, reader.rank - chunk, reader.rank - 1, is_ascending)
    reader.rank = reader.rank - chunk
  end
  reader.buffer, reader.at = found, is_backward and #found - 1 or 1
  reader.is_last = #found < 2 * chunk
end

-- The next sibling of a reader, without a step to the one after it: member and value; nil at the end.
local function next_of(reader)
  while not reader.buffer[reader.at] do
    if reader.is_last then return nil end
    fill(reader)
  end
  return reader.buffer[reader.at], reader.buffer[reader.at + 1]
end

local function skip_one(reader)
  reader.at = reader.at + (is_backward and -2 or 2)
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
  return up_high + down_high, 0 -- between which every value by `controversial` is
end

local function is_above(value, member, from)
  local other = tonumber(from.value)
  return value > other or value == other and member > from.member
end

-- The value of a comment that is in no thread, as it was in the index of its siblings.
local function value_in_hash(number) --> text
  local up, down, time = unpack(redis.call("HMGET", COMMENT .. number, "up", "down", "time"))
  if not time or index == "time" then return time end
  return string.format("%.17g", (value_bounds(tonumber(up), tonumber(up), tonumber(down), tonumber(down))))
end

-- Calls `find` with the greatest and the least value that a comment had before each of its moves since the walk began, until
-- it returns something, and returns that. `note_move` in comments.lua writes the moves.
local function find_in_moves(member, find)
  local moves = redis.call("HGET", KEYS[8], number_of(member))
  for move, up_low, up_high, down_low, down_high in string.gmatch(moves or "", "(%d+) (%d+) (%d+) (%d+) (%d+)") do
    if tonumber(move) > tonumber(moves_before) then
      local found = find(value_bounds(tonumber(up_low), tonumber(up_high), tonumber(down_low), tonumber(down_high)))
      if found then return found end
    end
  end
end

-- Whether a comment has been on the other side of a position since the walk began, so that an earlier page may have had it.
local function was_passed(member, from)
  if member == from.member then return true end
  if index == "time" then return false end
  return find_in_moves(member, function(high, low)
    if is_backward then return not is_above(low, member, from) end
    return is_above(high, member, from)
  end)
end

-- A frame is a reader of the replies to one comment, or to the article. `beyond` is the position after which it begins,
-- and `owner` the place of the comment itself if a walk upwards comes to it after its replies. A list of replies that is
-- read from its end on needs no ranks.
local function new_frame(parent, depth, beyond, owner) --> frame
  local siblings = replies_of(parent)
  local frame = {
    siblings = siblings, beyond = beyond, buffer = UNREAD, at = 1, parent = parent, depth = depth, owner = owner,
  }
  if type(siblings) == "table" and not beyond then
    frame.buffer, frame.at, frame.is_last = siblings, is_backward and #siblings - 1 or 1, true
  end
  return frame
end

-- The reader of the places that siblings had when the walk was pinned. Only siblings that were voted on since have such a
-- place; nil if there are none.
local function reader_at_pin(frame)
  if frame.at_pin == nil then
    local key = places_at_pin(frame.parent)
    local has_places = index ~= "time" and (frame.beyond or next_of(frame)) and redis.call("EXISTS", key) == 1
    frame.at_pin = has_places and new_reader(key, frame.beyond)
  end
  return frame.at_pin or nil
end

-- The reader that has the next sibling in the order of a pin: the highest value comes first, as `time`, the only index
-- that is also read from the lowest, has no reader of a pin.
local function next_reader(frame, at_pin)
  local member, value = next_of(frame)
  local other, value_at_pin = next_of(at_pin)
  if not member or not other then return member and frame or at_pin end
  local is_higher = is_above(tonumber(value), member, {value = value_at_pin, member = other})
  return is_higher == is_backward and at_pin or frame
end

-- The next sibling of a pinned page. A sibling that was voted on since then is in both readers, and its place is that in
-- the reader of the pin; while it is hidden, it is only in this one, and left out. All others are only in the frame.
local function next_pinned(frame)
  local at_pin = reader_at_pin(frame)
  while true do
    local reader = at_pin and next_reader(frame, at_pin) or frame
    local member, value = next_of(reader)
    if not member then return nil end
    skip_one(reader)
    local other = at_pin and (reader == frame and at_pin or frame)
    local is_in_other = other and value_in(other.siblings, member) and true or false
    local has_place_here = is_in_other == (reader == at_pin)
    if has_place_here and not is_new(member) then return member, value end
  end
end

-- The next sibling of a frame: member and value; nil at the end.
local function next_sibling(frame) --> (member, value) | nil
  if is_pinned then return next_pinned(frame) end
  while true do
    local member, value = next_of(frame)
    if not member then return nil end
    skip_one(frame)
    if not (frame.beyond and was_passed(member, frame.beyond)) then return member, value end
  end
end
