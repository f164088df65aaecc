-- Functions of the scripts that work on comments. Follows prelude.lua, branch_paths.lua and notifications.lua.
-- KEYS  see prelude.lua; the last twelve, in the order of `keys.comment_keys`: comment:{p}:   replies:{p}:   tree:{p}:
--       stubs:{p}:   commented:{p}:   moves:{p}   removing:{p}   comments:{p}:   pins:{p}:   pinned:{p}:
--       and those of notifications.lua
-- ARGV  1-7 see notifications.lua
local COMMENT, REPLIES, TREE, STUBS, COMMENTED, MOVES, REMOVING, OWN, PINS, PINNED = unpack(KEYS, #KEYS - 11)
local REPLY_ORDERS = {"best", "votes", "time", "controversial"}
local ARTICLE_PATH = {text = "", index = 0}
local MAX_MOVES = 4

-- Reads a comment; nil if there is none. `flat` has the hash as HGETALL replies: field, value, ...
local function find_comment(number)
  local flat = redis.call("HGETALL", COMMENT .. number)
  if not flat[1] then return nil end
  local comment = {
    number = number, member = string.rep("0", 16 - #number) .. number, hash = COMMENT .. number, flat = flat,
  }
  for i = 1, #flat, 2 do comment[flat[i]] = flat[i + 1] end
  comment.time, comment.up, comment.down = tonumber(comment.time), tonumber(comment.up), tonumber(comment.down)
  comment.path = comment.path and parse_path(comment.path)
  return comment
end

local function comment_hash(number)
  return redis.call("HGETALL", COMMENT .. number)
end

-- Reads what comments need of their article; nil if there is none.
local function find_home(number)
  local poster, state, locked = unpack(redis.call("HMGET", ARTICLE .. number, "poster", "state", "locked"))
  return poster and {poster = poster, state = state, locked = locked} or nil
end

-- Writes a comment to the indexes of the replies to its parent. With `before`, its votes before a change, only where its
-- value changes.
local function update_replies(comment, before)
  local siblings = REPLIES .. (comment.parent or comment.article) .. ":"
  for _, order in ipairs(REPLY_ORDERS) do
    local value = order_value(comment, order, SITE_WEIGHTS)
    if not before or value ~= order_value(before, order, SITE_WEIGHTS) then
      redis.call("ZADD", siblings .. order, value, comment.member)
    end
  end
end

local function remove_from_replies(comment)
  local siblings = REPLIES .. (comment.parent or comment.article) .. ":"
  for _, order in ipairs(REPLY_ORDERS) do redis.call("ZREM", siblings .. order, comment.member) end
end

-- The names of the pins of an article's thread, also of some that have expired: each has an order and the number of the
-- last move when it was made.
local function pins_of(article)
  return redis.call("ZRANGE", PINS .. article, 0, -1)
end

-- Keeps the place of a comment that a vote is about to move, in each pin that was made since it was last voted on.
local function keep_place(comment, lifetime)
  local last_move = tonumber(string.match(comment.moves or "", "(%d+) [^,]*$") or 0)
  local parent = comment.parent or comment.article
  for _, pin in ipairs(pins_of(comment.article)) do
    local order, moves = string.match(pin, "(%l+):(%d+)")
    if last_move <= tonumber(moves) then
      local places = PINNED .. parent .. ":" .. pin
      redis.call("ZADD", places, redis.call("ZSCORE", REPLIES .. parent .. ":" .. order, comment.member), comment.member)
      redis.call("PEXPIRE", places, lifetime)
    end
  end
end

-- Writes an article to the index of ACTIVE, if the store has it.
local function index_activity(article)
  local ranking = read_ranking(article.groups)
  for _, order in ipairs(ranking.orders) do
    if order == "active" then set_in_order(article, order, ranking) end
  end
end

-- Adds to the number of visible replies of the parent, and of visible comments of the article, and moves the article in
-- the index of ACTIVE: a new comment by its time, the last one that goes back to the posting time. `active` has the time of
-- the newest comment that the article ever had. Returns the groups of the article.
local function count_comment(comment, change)
  if comment.parent then redis.call("HINCRBY", COMMENT .. comment.parent, "replies", change) end
  local hash = ARTICLE .. comment.article
  local count = redis.call("HINCRBY", hash, "comments", change)
  local time, active, groups = unpack(redis.call("HMGET", hash, "time", "active", "groups"))
  local article = {
    number = comment.article, member = string.format("%016.0f", tonumber(comment.article)), time = tonumber(time),
    active = tonumber(active or time), comments = count, groups = split(groups),
  }
  local is_newest = change > 0 and comment.time > article.active
  if is_newest then
    article.active = comment.time
    redis.call("HSET", hash, "active", comment.time)
  end
  if is_newest or change > 0 and count == 1 or count == 0 then index_activity(article) end
  return article.groups
end

-- The field `moves` after a vote: the last moves, each as the number of the move, then the lowest and highest upvotes and
-- the lowest and highest downvotes that the comment had before. The oldest two become one if there are too many.
local function add_move(moves, before)
  local list = {}
  for numbers in string.gmatch(moves or "", "[^,]+") do list[#list + 1] = split(numbers) end
  list[#list + 1] = {redis.call("INCR", MOVES), before.up, before.up, before.down, before.down}
  if #list > MAX_MOVES then
    local first, second = list[1], table.remove(list, 2)
    for i = 2, 5 do
      local either = i % 2 == 0 and math.min or math.max
      first[i] = either(tonumber(first[i]), tonumber(second[i]))
    end
    first[1] = second[1]
  end
  for i, numbers in ipairs(list) do list[i] = table.concat(numbers, " ") end
  return table.concat(list, ",")
end

local function add_comment_karma(comment, votes)
  redis.call("HINCRBY", USER .. string.lower(comment.poster), "comment_karma", votes)
end

-- Publishes a change of a comment to all processes. `groups` are those whose listings it concerns.
local function publish_comment(kind, comment, id, groups)
  redis.call("PUBLISH", EVENTS, table.concat(
    {kind, comment.number, comment.poster or "-", id, comment.article, unpack(groups or {})}, " "
  ))
end
