-- Functions of the scripts that work on comments: reads, indexes of replies, counts, and places that pins keep. A pin
-- keeps the order that a thread had at a moment, for those who read its further pages.
-- requires: branch_paths, few_replies, notifications, recent_comments
-- from branch_paths: parse_path(stored) -> {text, index}
-- from few_replies: FEW_REPLIES (to one comment or article: only more have the indexes of all orders)
-- from prelude: member_of(number) -> 16 digits, split(text) -> {word, ...}, order_value(article, order, weights) -> number,
--   SITE_WEIGHTS (vote_score, hot_seconds and best_z of the site), read_ranking(groups) -> {orders, own, next_weights},
--   set_in_order(article, order, ranking)
-- from recent_comments: recent.all_places_of(article, groups), recent.relist(comments, place, is_listed, limit),
--   recent.most_in(place), recent.remove(comment, groups), recent.add(comment, groups)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       replies: replies to an article or comment, by the value of an order
--       pins: moments at which a thread's order was kept   pinned: values that comments had at a pin
--       tree: an article's comments by branch path   latest: an article's visible comments by time, if it has many
--       moves: how many votes have moved comments   moved: the last moves of an article's comments
--       deleted: what was deleted, until the database has removed it too
-- ARGV  1-6 for prelude.lua, such as 3 now (unix milliseconds)   7 number of partitions
local REPLY_ORDERS = {"best", "votes", "time", "controversial"} -- in which replies have an index
local ARTICLE_PATH = {text = "", index = 0} -- the branch path of any article

-- Reads a comment; nil if there is none. `flat` has the hash as HGETALL replies: field, value, ...
local function find_comment(number) --> fields by name | nil
  local flat = redis.call("HGETALL", KEY.comment .. number)
  if not flat[1] then return nil end
  local comment = {
    number = number, member = member_of(number), hash = KEY.comment .. number, flat = flat,
  }
  for i = 1, #flat, 2 do comment[flat[i]] = flat[i + 1] end
  comment.time, comment.up, comment.down = tonumber(comment.time), tonumber(comment.up), tonumber(comment.down)
  comment.path = comment.path and parse_path(comment.path)
  return comment
end

local function comment_hash(number) --> {field, value, ...}
  return redis.call("HGETALL", KEY.comment .. number)
end

-- Whether a comment is in its poster's list and in inboxes. The field `away` says that it is not, as its article is not
-- visible.
local function is_listed(comment)
  return not comment.state and not comment.away
end

-- Reads the fields of an article that its comments depend on; nil if there is no such article.
local function find_article_info(number) --> {poster, time, state, locked, groups} | nil
  local poster, time, state, locked, groups =
    unpack(redis.call("HMGET", KEY.article .. number, "poster", "time", "state", "locked", "groups"))
  if not poster then return nil end
  return {poster = poster, time = tonumber(time), state = state, locked = locked, groups = split(groups or "")}
end

-- Sets when the comments of an article were last changed, if nothing else in its hash shows the change: the conversation is
-- archived only if it did not change while it was copied.
local function note_written(article)
  redis.call("HSET", KEY.article .. article, "written", ARGV[3])
end

local function siblings_of(comment) --> what the keys of their indexes have before the order
  return KEY.replies .. (comment.parent or comment.article) .. ":"
end

-- Whether the replies to a parent have the indexes of all orders; few have only `best`.
local function has_all_orders(siblings)
  return redis.call("ZCARD", siblings .. "best") > FEW_REPLIES
end

local function unlink_other_orders(siblings)
  for _, order in ipairs(REPLY_ORDERS) do
    if order ~= "best" then redis.call("UNLINK", siblings .. order) end
  end
end

-- Writes the indexes that few replies lack, from the hashes of all. Earlier versions had them for few replies, too: such
-- indexes have old values, so they are removed first.
local function fill_other_orders(siblings)
  unlink_other_orders(siblings)
  for _, member in ipairs(redis.call("ZRANGE", siblings .. "best", 0, -1)) do
    local sibling = find_comment(string.match(member, "^0*(%d+)$"))
    for _, order in ipairs(sibling and REPLY_ORDERS or {}) do
      if order ~= "best" then redis.call("ZADD", siblings .. order, order_value(sibling, order, SITE_WEIGHTS), member) end
    end
  end
end

-- Writes a comment to the indexes of the replies to its parent. With `before`, its votes before a change, only where its
-- value changes.
local function update_replies(comment, before)
  local siblings = siblings_of(comment)
  local function update(order)
    local value = order_value(comment, order, SITE_WEIGHTS)
    if not before or value ~= order_value(before, order, SITE_WEIGHTS) then
      redis.call("ZADD", siblings .. order, value, comment.member)
    end
  end
  update("best")
  local count = redis.call("ZCARD", siblings .. "best")
  if count <= FEW_REPLIES then return end
  if not before and (count == FEW_REPLIES + 1 or redis.call("EXISTS", siblings .. "time") == 0) then
    return fill_other_orders(siblings)
  end
  for _, order in ipairs(REPLY_ORDERS) do
    if order ~= "best" then update(order) end
  end
end

local function remove_from_replies(comment)
  local siblings = siblings_of(comment)
  for _, order in ipairs(REPLY_ORDERS) do redis.call("ZREM", siblings .. order, comment.member) end
  if not has_all_orders(siblings) then unlink_other_orders(siblings) end
end

-- The names of the pins of an article's thread, also of some that have expired, each ORDER:MOVES: an order, and the
-- number of the last move when the pin was made. A move is a vote that changes a comment; the moves of a partition are
-- numbered.
local function pins_of(article) --> {ORDER:MOVES, ...}
  return redis.call("ZRANGE", KEY.pins .. article, 0, -1)
end

local keep_place, note_move
do -- a script has at most 200 local variables
  -- The last moves of a comment as `note_move` has written them, or an earlier version in its hash; nil if it has not moved.
  local function moves_of(comment) --> text | nil
    return redis.call("HGET", KEY.moved .. comment.article, comment.number) or comment.moves
  end

  -- Keeps the place that a comment has before a vote moves it, in each pin that was made since the vote before. A comment
  -- that has no place now is kept, too, as it may be shown again. `before` has the votes that it had before the vote; the
  -- places live for `lifetime` milliseconds.
  function keep_place(comment, lifetime, before)
    local pins = pins_of(comment.article)
    if not pins[1] then return end
    local moves = moves_of(comment) or "" -- NUMBER ...,NUMBER ...: see `note_move`
    local last_move = tonumber(string.match(moves, "(%d+) [^,]*$") or 0)
    local parent, siblings = comment.parent or comment.article, siblings_of(comment)
    local has_all = has_all_orders(siblings)
    for _, pin in ipairs(pins) do
      local order, made_after = string.match(pin, "(%l+):(%d+)")
      if last_move <= tonumber(made_after) then
        local places = KEY.pinned .. parent .. ":" .. pin
        local value = (order == "best" or has_all) and redis.call("ZSCORE", siblings .. order, comment.member)
        redis.call("ZADD", places, value or order_value(before, order, SITE_WEIGHTS), comment.member)
        redis.call("PEXPIRE", places, lifetime)
      end
    end
  end

  -- Adds a vote that changes a comment, which had the votes `before`, to its last moves, separated by commas. Each is
  -- NUMBER UP_LOW UP_HIGH DOWN_LOW DOWN_HIGH: the number of the move, then the lowest and highest upvotes and the lowest and
  -- highest downvotes that the comment had before. The oldest two become one if there are too many. They are not in the hash of
  -- the comment, so that they take no memory when its voting is closed.
  function note_move(comment, before)
    local MAX_MOVES, LIFETIME = 4, 24 * 60 * 60 * 1000 -- milliseconds after the last vote on a comment of the article
    local moved, list = KEY.moved .. comment.article, {}
    for numbers in string.gmatch(moves_of(comment) or "", "[^,]+") do list[#list + 1] = split(numbers) end
    list[#list + 1] = {redis.call("INCR", KEY.moves), before.up, before.up, before.down, before.down}
    if #list > MAX_MOVES then
      local first, second = list[1], table.remove(list, 2)
      for i = 2, 5 do
        local extreme = i % 2 == 0 and math.min or math.max
        first[i] = extreme(tonumber(first[i]), tonumber(second[i]))
      end
      first[1] = second[1]
    end
    for i, numbers in ipairs(list) do list[i] = table.concat(numbers, " ") end
    redis.call("HSET", moved, comment.number, table.concat(list, ","))
    redis.call("PEXPIRE", moved, LIFETIME)
    if comment.moves then redis.call("HDEL", comment.hash, "moves") end
  end
end

-- Writes an article to the index of the order ACTIVE (by the newest comment), if the store has it and the article is
-- visible.
local function index_activity(article)
  if article.state then return end
  local ranking = read_ranking(article.groups)
  for _, order in ipairs(ranking.orders) do
    if order == "active" then set_in_order(article, order, ranking) end
  end
end

-- Keeps the activity of an article in its field `active`, which it lacks while it is the posting time.
local function write_activity(article)
  local hash = KEY.article .. article.number
  if article.active > article.time then
    redis.call("HSET", hash, "active", article.active)
  else
    redis.call("HDEL", hash, "active")
  end
end

local newest_time, count_comment
do -- a script has at most 200 local variables
  -- The visible comments of an article, each as {time, number}, in no particular order.
  local function visible_comments(article)
    local found = {}
    for _, member in ipairs(redis.call("ZRANGE", KEY.tree .. article, 0, -1)) do
      local number = string.match(member, " (%d+)$")
      local time, state = unpack(redis.call("HMGET", KEY.comment .. number, "time", "state"))
      if tonumber(time) and not state then found[#found + 1] = {tonumber(time), number} end
    end
    return found
  end

  -- The newest visible comments of an article, each as {member, time}: at most `count` where it has many.
  function recent.newest(article, count)
    local found = {}
    if redis.call("EXISTS", KEY.latest .. article) == 1 then
      local flat = redis.call("ZRANGE", KEY.latest .. article, 0, count - 1, "REV", "WITHSCORES")
      for i = 1, #flat, 2 do found[#found + 1] = {flat[i], tonumber(flat[i + 1])} end
      return found
    end
    for i, each in ipairs(visible_comments(article)) do
      found[i] = {string.format("%016.0f", tonumber(each[2])), each[1]}
    end
    return found
  end

  -- Takes all comments of an article, which is in these groups, out of the lists of recent comments.
  function recent.remove_comments_of(article, groups)
    local is_listed, limit = false, math.huge
    for _, place in ipairs(recent.all_places_of(article, groups)) do
      recent.relist(recent.newest(article, recent.most_in(place)), place, is_listed, limit)
    end
  end

  -- Whether `latest` has to be made. An article has its visible comments by time in `latest` only if it has more comments than
  -- READ_UP_TO, stubs included. Fewer are read one by one, in a quarter of a millisecond.
  local function lacks_latest(article)
    local READ_UP_TO = 128
    return redis.call("EXISTS", KEY.latest .. article) == 0 and redis.call("ZCARD", KEY.tree .. article) > READ_UP_TO
  end

  local function make_latest(article)
    for _, each in ipairs(visible_comments(article)) do
      redis.call("ZADD", KEY.latest .. article, each[1], string.format("%016.0f", tonumber(each[2])))
    end
  end

  -- Adds a new comment to `latest`, if its article has one or needs one. `count` is the number of visible comments.
  local function add_to_latest(comment, count)
    local is_needed = lacks_latest(comment.article)
    if is_needed and count > 1 then return make_latest(comment.article) end
    if is_needed or redis.call("EXISTS", KEY.latest .. comment.article) == 1 then
      redis.call("ZADD", KEY.latest .. comment.article, comment.time, comment.member)
    end
  end

  -- When the newest visible comment of an article was posted (unix milliseconds), but not before `time`.
  function newest_time(article, time) --> unix milliseconds
    local last = redis.call("ZRANGE", KEY.latest .. article, 0, 0, "REV", "WITHSCORES")[2]
    if last then return math.max(time, tonumber(last)) end
    for _, each in ipairs(visible_comments(article)) do time = math.max(time, each[1]) end
    return time
  end

  -- The time by which ACTIVE orders an article after a comment was added to those that are visible (`change` is 1), or taken
  -- from them (-1): that of the newest visible comment, or without any the posting time. `count` is how many are left.
  local function activity(article, comment, change, count)
    if change > 0 then
      add_to_latest(comment, count)
      return math.max(count > 1 and article.active or article.time, comment.time)
    end
    redis.call("ZREM", KEY.latest .. comment.article, comment.member)
    if count == 0 then return article.time end
    if comment.time < article.active then return article.active end
    if lacks_latest(comment.article) then make_latest(comment.article) end
    return newest_time(comment.article, article.time)
  end

  -- Adds `change` (1 or -1) to the number of visible replies of the parent and to that of visible comments of the article. Then
  -- moves the article in the index of ACTIVE, and adds the comment to the recent comments or removes it. To be called after the
  -- comment itself was changed. Returns the groups of the article.
  function count_comment(comment, change) --> groups
    if comment.parent then redis.call("HINCRBY", KEY.comment .. comment.parent, "replies", change) end
    local hash = KEY.article .. comment.article
    local count = redis.call("HINCRBY", hash, "comments", change)
    local time, active, groups, state = unpack(redis.call("HMGET", hash, "time", "active", "groups", "state"))
    local article = {
      number = comment.article, member = string.format("%016.0f", tonumber(comment.article)), time = tonumber(time),
      active = tonumber(active or time), comments = count, groups = split(groups), state = state or nil,
    }
    local before = article.active
    article.active = activity(article, comment, change, count)
    if article.active ~= before or count <= 1 then
      write_activity(article)
      index_activity(article)
    end
    if change < 0 then
      recent.remove(comment, article.groups)
    elseif not article.state then
      recent.add(comment, article.groups)
    end
    return article.groups
  end
end

-- The karma that a comment gives its poster: a removed one gives none.
local function karma_of_comment(comment) --> number
  return comment.state == "removed" and 0 or comment.up - comment.down - 1
end

local function add_comment_karma(comment, votes)
  redis.call("HINCRBY", KEY.user .. string.lower(comment.poster), "comment_karma", votes)
end

-- Notes the deletion of an article or a comment, by the time of its entry in the log, whose `id` begins with it.
local function note_deleted(number, id)
  redis.call("ZADD", KEY.deleted, string.match(id, "^%d+"), number)
end

-- Publishes a change of a comment to all processes, or on another channel. `groups` are those whose listings it concerns.
local function publish_comment(kind, comment, id, groups, channel)
  local words = {kind, comment.number, comment.poster or "-", id, comment.article, unpack(groups or {})}
  redis.call("PUBLISH", channel or KEY.events, table.concat(words, " "))
end
