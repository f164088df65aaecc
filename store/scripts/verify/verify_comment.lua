-- Verify a comment: its hash, its voters while voting is open, its entries in the indexes of its siblings, in the tree, in
-- `latest` and in `recent`, and whether it is removed as the actions of moderators say. `verify_counts.lua` verifies the number
-- of its replies, whether a thread has a place for it, and the activity of its article.
-- requires: comment_states, decisions, verify_prelude
-- from prelude: now (unix milliseconds), window (milliseconds in which votes are open),
--   GRACE (milliseconds from the end of voting until the sets of voters expire), split(text) -> {word, ...},
--   order_value(article, order, weights) -> number, SITE_WEIGHTS (vote_score, hot_seconds and best_z of the site)
-- from branch_paths: label_of(path) -> text, decode(text, place) -> (number, next place),
--   tree_member(path, number) -> LABEL NUMBER
-- from notifications: partitions (their number)
-- from recent_comments: recent.places_of(groups)
-- from comments: find_comment(number) -> fields by name | nil,
--   ARTICLE_PATH (what the branch paths of first answers begin with),
--   siblings_of(comment) -> what the keys of their indexes have before the order, has_all_orders(siblings),
--   fill_other_orders(siblings), REPLY_ORDERS (in which replies have an index)
-- from comment_states: set_comment_state(comment, state, actor, limit, rule) -> {entry id, effects, state, poster, ...}
-- from decisions: state_of(subject) -> (state | nil, kind | nil, rule | nil)
-- from verify_prelude: name (what the key ends with: a number, a username or a group),
--   reply (the next cursor, then four values of each finding), report(where, found, expected, repair), ONLY_DIGITS (a pattern),
--   count_voters(article), expect_voters(subject), expect_number(hash, field, found, value), expect_expiry(key, instant),
--   expect_member(index, member, value), log_repairs(subject)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       removing: articles and comments still to be removed or to enter or leave lists, in steps
--       left: archived articles whose comments Redis still has   tree: an article's comments by branch path
--       stubs: those comments of a tree that are not visible   floors: the times up to which `recent` lacks comments
--       relisting: articles whose comments are entering or leaving `recent`
--       recent: newest visible comments of the site or a group
--       replies: replies to an article or comment, by the value of an order
--       latest: an article's visible comments by time, if it has many   heldedit: an edit that waits for approval
--       queue: what waits for moderators
-- ARGV  1-6 for prelude.lua: 3 now (unix milliseconds)   7 "repair" to repair what is wrong, else ""
--       8 `name`, the last part of the key: a number
--       9 slot of the poster (one of 1,024; it decides their partition), or "" if the caller found no poster
--       10 number of partitions
--       11 how many comments above it, at most, get or lose their places in the thread if its state is repaired
--       12 "recent" if the indexes of recent comments are complete, else ""
-- Reply {"0", then of each finding: key with field or member, found value, expected value, "repaired" or ""}
local poster_slot = ARGV[9]
partitions = tonumber(ARGV[10]) -- notifications.lua takes it from ARGV 7 or 8, which are something else here
local comment = find_comment(name)
if not comment then return reply end

local article = KEY.article .. (comment.article or "")
if redis.call("EXISTS", article) == 0 then
  local number = comment.article or ""
  if not redis.call("ZSCORE", KEY.removing, number) and not redis.call("ZSCORE", KEY.left, number) then
    report(comment.hash .. " article", comment.article, "an article", comment.article and function()
      redis.call("ZADD", KEY.removing, now, comment.article)
    end)
  end
  return reply
end

local is_deleted = comment.state == "deleted"
local parent = comment.parent and find_comment(comment.parent)
local STATES = {pending = true, removed = true, deleted = true}
local PATTERNS_OF_COMMENT = {time = ONLY_DIGITS, up = ONLY_DIGITS, down = ONLY_DIGITS, depth = ONLY_DIGITS}
local invalid = {}
for field, pattern in pairs(PATTERNS_OF_COMMENT) do
  local found = redis.call("HGET", comment.hash, field)
  if not found or not string.find(found, pattern) then invalid[#invalid + 1] = field end
end
if comment.parent and not (parent and parent.article == comment.article) then invalid[#invalid + 1] = "parent" end
if comment.state and not STATES[comment.state] then invalid[#invalid + 1] = "state" end
for _, field in ipairs(is_deleted and {} or {"poster", "content"}) do
  if not comment[field] then invalid[#invalid + 1] = field end
end
for _, field in ipairs(invalid) do report(comment.hash .. " " .. field, comment[field], "a usable " .. field) end
if invalid[1] then return reply end

local function expect_field(field, expected)
  if comment[field] == expected then return end
  report(comment.hash .. " " .. field, comment[field], expected, function()
    redis.call("HSET", comment.hash, field, expected)
  end)
end

local function verify_voters()
  comment.closes = comment.time + window
  comment.fields = {imported = comment.imported} -- `count_voters` adds these votes, which have no voters here
  local up, down = comment.up, comment.down -- as they are stored: `count_voters` sets those that should be
  if now <= comment.closes and redis.call("EXISTS", KEY.voted .. name) == 1 then
    count_voters(comment)
    expect_voters(comment)
  end
  expect_number(comment.hash, "up", up, comment.up)
  expect_number(comment.hash, "down", down, comment.down)
  expect_expiry(KEY.voted .. name, comment.closes + GRACE)
  expect_expiry(KEY.downvoted .. name, comment.closes + GRACE)
end

-- Whether a path is that of a reply to the parent, whose path is `above`: it goes on with the next index, or begins a side
-- path, whose text is the label of the parent and a number (branch_paths.lua).
local function is_placed(path, above)
  if path.text == above.text then return path.index == above.index + 1 end
  local label = label_of(above)
  if path.index ~= 0 or string.sub(path.text, 1, #label) ~= label or #path.text == #label then return false end
  local _, last = decode(path.text, #label + 1)
  return last == #path.text + 1
end

local function verify_path()
  local tree, stubs = KEY.tree .. comment.article, KEY.stubs .. comment.article
  local above = not parent and ARTICLE_PATH or parent.path
  if not comment.path or not above or not is_placed(comment.path, above) then
    report(comment.hash .. " path", comment.path and label_of(comment.path), "a path below that of the parent")
    return
  end
  local member = tree_member(comment.path, name)
  expect_member(tree, member, 0)
  expect_member(stubs, member, comment.state and 0 or nil)
end

-- Verifies the field `away`: the comment is out of lists and inboxes if its article is not visible. While the key `removing`
-- has the article, this is being changed.
local function verify_lists()
  local expected = not is_deleted and redis.call("HEXISTS", article, "state") == 1 and "1" or nil
  if comment.away == expected or redis.call("ZSCORE", KEY.removing, comment.article) then return end
  report(comment.hash .. " away", comment.away, expected, function()
    if is_deleted then return redis.call("HDEL", comment.hash, "away") end
    redis.call("ZADD", KEY.removing, now, comment.article)
  end)
end

-- Verifies that the comment is in the indexes `recent` of the places where it belongs, if it is newer than the floor: up to
-- this time a place has lost its comments, as there were too many. While `relisting` has the article, this is being changed.
local function verify_recent()
  local groups, state = unpack(redis.call("HMGET", article, "groups", "state"))
  for _, place in ipairs(recent.places_of(split(groups or ""))) do
    local is_recent = comment.time > (tonumber(redis.call("HGET", KEY.floors, place)) or 0)
    local is_listed = is_recent and not comment.state and not state
    if not redis.call("ZSCORE", KEY.relisting, comment.article .. " " .. place) then
      expect_member(KEY.recent .. place, comment.member, is_listed and comment.time or nil)
    end
  end
end

-- Verifies the entries in the indexes of the replies to the parent. A comment with the field `bare` has no place among them:
-- it was removed or deleted, and nothing below it is left.
local function verify_replies()
  local siblings = siblings_of(comment)
  local function expect_in(order)
    expect_member(siblings .. order, comment.member, not comment.bare and order_value(comment, order, SITE_WEIGHTS) or nil)
  end
  expect_in("best")
  if not has_all_orders(siblings) then return end -- few replies have only `best`
  if redis.call("EXISTS", siblings .. "time") == 0 then
    return report(siblings .. "time", nil, "there", function() fill_other_orders(siblings) end)
  end
  for _, order in ipairs(REPLY_ORDERS) do
    if order ~= "best" then expect_in(order) end
  end
end

expect_field("depth", tostring(parent and parent.depth + 1 or 0))
if not is_deleted then
  if poster_slot ~= "" then expect_field("slot", poster_slot) end
  verify_voters()
end
verify_replies()
if redis.call("EXISTS", KEY.latest .. comment.article) == 1 then
  expect_member(KEY.latest .. comment.article, comment.member, not comment.state and comment.time or nil)
end
-- A comment waits in the queue `pending` while it is held, or a visible one while an edit of it is.
local edited_at = not comment.state and tonumber(redis.call("HGET", KEY.heldedit .. comment.number, "at") or nil)
local since = comment.state == "pending" and comment.time or edited_at or nil
expect_member(KEY.queue .. "pending:all", comment.member, since)
for _, group in ipairs(split(redis.call("HGET", article, "groups") or "")) do
  expect_member(KEY.queue .. "pending:group:" .. group, comment.member, since)
end
if ARGV[12] == "recent" then verify_recent() end
verify_path()
verify_lists()
log_repairs("comment:" .. name)

-- Last, as the repair moves the comment to other indexes.
local state = state_of("comment:" .. name)
if not is_deleted and comment.path and (state == "removed") ~= (comment.state == "removed") then
  report(comment.hash .. " state", comment.state or "visible", state or "visible", function()
    local NOBODY = "" -- who does it, in the log
    set_comment_state(find_comment(name), state, NOBODY, tonumber(ARGV[11]))
  end)
end
return reply
