-- Read a page of a thread: the descendants of an article or a comment in pre-order, siblings by an index. A walk is
-- somebody's reading of a thread from page to page. A pinned walk keeps the order of its beginning, whatever votes move.
-- requires: thread_siblings
-- from branch_paths: parse_path(stored) -> {text, index}, count_descendants(tree, stubs, path) -> number,
--   encode(number) -> digits
-- from reply_indexes: count_before(index, value, member, including, is_ascending) -> number
-- from thread_siblings: COMMENT (what the keys of comments begin with), number_of(member),
--   TREE (the key of all comments of the article, by branch path),
--   STUBS (the key of those comments in it that are not visible), value_of(parent, member), value_in_hash(number) -> text,
--   is_pinned (whether the walk is pinned), index (the order of replies), find_in_moves(member, find),
--   is_backward (whether the places before the cursor are wanted), is_new(number), is_bare(member),
--   new_frame(parent, depth, beyond, owner) -> frame, next_sibling(frame) -> (member, value) | nil,
--   replies_of(number) -> key | list, is_ascending, moves_before (the number of the last move when the walk began)
-- KEYS  for thread_siblings.lua: comments, indexes of replies, the tree of the article, stubs, moves and pins
-- ARGV  for thread_siblings.lua, too: 1 number of the article or comment whose descendants are the thread
--       2-4 the index, its order and the direction   5 number of places   6 greatest depth, 0 for the replies to 1
--       7 best_z, the confidence of the index `best`   8 number of the last move (by a vote) when the walk began
--       9 the highest number of a comment that a pinned walk shows
--       from 10 on: depth, value and number (16 digits) of the place of the cursor and of its ancestors, outermost
--       first
-- Reply one string, separated by spaces: number of the last move when the walk began, 1 if the page is pinned, 0 if not or
--       if the pin has expired, 1 if there are places before these, 1 if there are places after them, number of known
--       ancestors of the first place, for each of these depth, value, number with 16 digits; then for each place depth,
--       value, number, visible descendants if they are too deep to be shown, else 0
local root, wanted, deepest = ARGV[1], tonumber(ARGV[5]), tonumber(ARGV[6])
local LONG_DESCENT = 16 -- levels without a place after which stretches without side paths are skipped
local cursor = {} -- levels of the last place of the page before, outermost first: {depth, value, member} each
for i = 10, #ARGV, 3 do
  cursor[#cursor + 1] = {depth = tonumber(ARGV[i]), value = ARGV[i + 1], member = ARGV[i + 2]}
end

-- The places found so far, and a stack of frames: what is still to be walked, the innermost level last. A frame is one of
-- - a reader of the replies to one comment (`new_frame` in thread_siblings.lua);
-- - with `top` a gap: the ancestors between two levels of the cursor, which have to be looked up. `gap` is the number of
--   the next one, `depth` its depth, `top` that of the level above the gap, and `known` this level, if
--   its comment is not gone;
-- - with `run` a run of comments without siblings, which is walked upwards. `run` is the number of the next one, `depth`
--   its depth, and `place`, at `end_depth`, the place above them, with which it ends.
local places, frames = {}, {}

local function path_of(number)
  local stored = redis.call("HGET", COMMENT .. number, "path")
  return stored and parse_path(stored)
end

-- Adds a place to those found.
local function emit(depth, value, member)
  local hidden, path = 0, depth == deepest and path_of(number_of(member))
  if path then hidden = count_descendants(TREE, STUBS, path) end
  places[#places + 1] = {depth = depth, value = value, member = member, hidden = hidden}
end

-- The parent of a comment; the thread's root for one at depth 0; nil if the comment is gone.
local function parent_of(level)
  if level.depth == 0 then return root end
  return redis.call("HGET", COMMENT .. number_of(level.member), "parent") or nil
end

-- The place of an ancestor that the cursor does not have, by its present value or, in a pinned walk, that of the pin; nil
-- if the comment is gone.
local function look_up(number, depth)
  local parent = depth == 0 and root or redis.call("HGET", COMMENT .. number, "parent")
  if not parent then return nil end
  local member = string.rep("0", 16 - #number) .. number
  local value = value_of(parent, member) or value_in_hash(number)
  return value and {depth = depth, value = value, member = member, parent = parent}
end

-- Where a page goes on among the siblings of an ancestor that the cursor does not have: behind all places that the ancestor
-- may have had since the walk began, as an earlier page may have shown the siblings that precede any of them.
local function farthest(level)
  if is_pinned or index == "time" then return level end
  local value = tonumber(level.value)
  find_in_moves(level.member, function(high, low)
    value = is_backward and math.max(value, high) or math.min(value, low)
  end)
  return {depth = level.depth, value = string.format("%.17g", value), member = level.member, parent = level.parent}
end

-- The number of the comment whose path has the same text and another index; nil if there is none.
local function number_on_path(path, other_index)
  local label = path.text .. encode(other_index)
  local found = redis.call("ZRANGEBYLEX", TREE, "[" .. label .. " ", "[" .. label .. "!", "LIMIT", 0, 1)[1]
  return found and string.match(found, " (%d+)$")
end

-- How many levels below a comment (`direction` 1) or above it (-1) are reached through comments without side paths, at most
-- `levels`. They are found by doubling the number, then by halving the rest.
local function count_unbranched(path, levels, direction)
  local function is_unbranched(count)
    local first = path.index + math.min(count * direction, 0)
    local last = direction > 0 and number_on_path(path, first + count)
    if direction > 0 and (not last or is_new(last)) then return false end
    local from, to = path.text .. encode(first), path.text .. encode(first + count)
    return redis.call("ZLEXCOUNT", TREE, "[" .. from, "[" .. to .. "!") == count + 1
  end
  local most = math.min(levels, direction < 0 and path.index - 1 or levels)
  local low, high = 0, 1
  while high <= most and is_unbranched(high) do low, high = high, 2 * high end
  high = math.min(high - 1, most)
  while low < high do
    local middle = math.ceil((low + high) / 2)
    if is_unbranched(middle) then low = middle else high = middle - 1 end
  end
  return low
end

-- Marks the levels of the cursor whose comments are gone, or in no thread. A comment is there as long as one below it is.
local function mark_gone()
  for i = #cursor, 1, -1 do
    local member = cursor[i].member
    if redis.call("EXISTS", COMMENT .. number_of(member)) == 1 and not is_bare(member) then return end
    cursor[i].is_gone = true
  end
end

-- The frames of the cursor: those of the levels that it has, and between them one for levels that have to be looked up.
local function resume()
  mark_gone()
  for i, level in ipairs(cursor) do
    local above = cursor[i - 1]
    local owner = above and not above.is_gone and above or nil
    local is_gap = level.depth > 0 and (not above or above.depth < level.depth - 1)
    local parent = not is_gap and above and number_of(above.member) or parent_of(level)
    if is_gap then
      frames[#frames + 1] = {gap = parent, depth = level.depth - 1, top = above and above.depth or -1, known = owner}
    end
    if parent then frames[#frames + 1] = new_frame(parent, level.depth, level, not is_gap and owner or nil) end
  end
end

-- Goes up by one ancestor in a gap of the cursor: adds the frame of its siblings, and returns its place. When the gap is
-- climbed, takes the gap off the stack and returns the level above it, which is nil if the cursor has none.
local function climb(gap)
  if not gap.gap or gap.depth <= gap.top then
    frames[#frames] = nil
    return gap.known
  end
  if not is_backward then -- ancestors without siblings have none that follow
    local path = path_of(gap.gap)
    local skipped = path and count_unbranched(path, gap.depth - gap.top - 1, -1) or 0
    if skipped > 0 then gap.gap, gap.depth = number_on_path(path, path.index - skipped), gap.depth - skipped end
  end
  local found = look_up(gap.gap, gap.depth)
  local level = found and farthest(found)
  gap.gap, gap.depth = level and level.parent, gap.depth - 1
  if level then frames[#frames + 1] = new_frame(level.parent, level.depth, level) end
  return level
end

local function walk_down(count)
  while #places < count and frames[1] do
    local frame = frames[#frames]
    if frame.top then
      climb(frame)
    else
      local member, value = next_sibling(frame)
      if not member then
        frames[#frames] = nil
      else
        emit(frame.depth, value, member)
        if frame.depth < deepest then frames[#frames + 1] = new_frame(number_of(member), frame.depth + 1) end
      end
    end
  end
end

-- A frame for the comments without side paths below a place, which are walked from the lowest one upwards.
local function new_run(place, levels)
  local path = path_of(number_of(place.member))
  local length = path and count_unbranched(path, levels, 1) or 0
  if length < 1 then return nil end
  return {run = number_on_path(path, path.index + length), depth = place.depth + length, end_depth = place.depth, place = place}
end

local function next_of_run(run)
  if run.depth == run.end_depth then
    frames[#frames] = nil
    emit(run.depth, run.place.value, run.place.member)
    return
  end
  local level = look_up(run.run, run.depth)
  if level and not is_bare(level.member) then emit(level.depth, level.value, level.member) end
  run.run, run.depth = level and level.parent, level and run.depth - 1 or run.end_depth
end

-- Goes on with the replies to a sibling, whose places precede it in a walk upwards.
local function descend(place, descended)
  local run = descended >= LONG_DESCENT and new_run(place, deepest - place.depth)
  if not run then
    frames[#frames + 1] = new_frame(number_of(place.member), place.depth + 1, nil, place)
    return
  end
  frames[#frames + 1] = run
  if run.depth < deepest then frames[#frames + 1] = new_frame(run.run, run.depth + 1) end
end

local function walk_up(count)
  local descended = 0
  while #places < count and frames[1] do
    local frame, known = frames[#frames], #places
    if frame.top then
      local level = climb(frame)
      if level and not is_bare(level.member) then emit(level.depth, level.value, level.member) end
    elseif frame.run then
      next_of_run(frame)
    else
      local member, value = next_sibling(frame)
      local place = member and {depth = frame.depth, value = value, member = member}
      if not place then
        frames[#frames] = nil
        if frame.owner then emit(frame.owner.depth, frame.owner.value, frame.owner.member) end
      elseif place.depth < deepest then
        descend(place, descended)
      else
        emit(place.depth, place.value, place.member)
      end
    end
    descended = #places > known and 0 or descended + 1
  end
end

-- Begins a walk at the cursor, or without one at the end of the thread from which the page is counted, and finds some
-- places.
local function walk(count)
  places, frames = {}, {}
  local last = cursor[#cursor]
  if last then resume() else frames[1] = new_frame(root, 0) end
  if is_backward then return walk_up(count) end
  if last and last.depth < deepest then frames[#frames + 1] = new_frame(number_of(last.member), last.depth + 1) end
  walk_down(count)
end

-- Whether there are places on the other side of the cursor than the page. It may walk there: then `places`, `frames` and
-- `is_backward` are those of that walk.
local function has_others(first)
  local last = cursor[#cursor]
  if last and not last.is_gone then return true end
  if not is_backward and first and not is_pinned then
    return first.depth > 0 or count_before(replies_of(root), first.value, first.member, false, is_ascending) > 0
  end
  if not last then return false end
  is_backward = not is_backward
  walk(1)
  return #places > 0
end

-- The known ancestors of the first place of a page.
local function known_ancestors(first)
  local known = {}
  if is_backward then
    for _, frame in ipairs(frames) do
      local owner = frame.owner or frame.place or frame.known
      if owner and owner.depth < first.depth then known[#known + 1] = owner end
    end
  else
    for _, level in ipairs(cursor) do
      if level.depth < first.depth then known[#known + 1] = level end
    end
  end
  return known
end

local function reversed(list)
  local other = {}
  for i = #list, 1, -1 do other[#other + 1] = list[i] end
  return other
end

walk(wanted + 1)
local has_more = #places > wanted -- the last place found is beyond the page then
local first = is_backward and places[math.min(#places, wanted)] or places[1]
local known = first and known_ancestors(first) or {}
local extra = has_more and table.remove(places) or nil
if is_backward and extra and extra.depth < first.depth then known[#known + 1] = extra end
local shown, goes_up = is_backward and reversed(places) or places, is_backward -- `has_others` may change `is_backward`
local others = has_others(first)

local has_before, has_after = others, has_more
if goes_up then has_before, has_after = has_more, others end
local reply = {moves_before, is_pinned and 1 or 0, has_before and 1 or 0, has_after and 1 or 0, #known}
for _, level in ipairs(known) do
  reply[#reply + 1] = level.depth .. " " .. level.value .. " " .. level.member
end
for _, place in ipairs(shown) do
  reply[#reply + 1] = table.concat({place.depth, place.value, place.member, place.hidden}, " ")
end
return table.concat(reply, " ")
