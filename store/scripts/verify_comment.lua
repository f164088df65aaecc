-- Verify a comment: its hash, its voters while voting is open, and its entries in the indexes of its siblings and in the
-- tree. `verify_counts.lua` verifies the number of its replies.
-- KEYS  see comments.lua
-- ARGV  1-8 see verify_prelude.lua; the name is a number   9 slot of the poster, as the caller read the poster
-- Reply see verify_prelude.lua
local comment = find_comment(name)
if not comment then return reply end

if redis.call("EXISTS", ARTICLE .. (comment.article or "")) == 0 then
  if not redis.call("ZSCORE", REMOVING, comment.article or "") then
    report(comment.hash .. " article", comment.article, "an article", comment.article and function()
      redis.call("ZADD", REMOVING, now, comment.article)
    end)
  end
  return reply
end

local is_stub = comment.state == "deleted"
local parent = comment.parent and find_comment(comment.parent)
local PATTERNS_OF_COMMENT = {time = DIGITS, up = DIGITS, down = DIGITS, depth = DIGITS}
local invalid = {}
for field, pattern in pairs(PATTERNS_OF_COMMENT) do
  local found = redis.call("HGET", comment.hash, field)
  if not found or not string.find(found, pattern) then invalid[#invalid + 1] = field end
end
if comment.parent and not (parent and parent.article == comment.article) then invalid[#invalid + 1] = "parent" end
for _, field in ipairs(is_stub and {} or {"poster", "content"}) do
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
  comment.fields = {imported = comment.imported}
  local up, down = comment.up, comment.down
  if now <= comment.closes and redis.call("EXISTS", VOTED .. name) == 1 then
    count_voters(comment)
    for _, voter in ipairs(comment.both) do
      local set = DOWNVOTED .. name
      report(set .. " " .. voter, "there", "in one set only", function() redis.call("SREM", set, voter) end)
    end
    if comment.lacks_poster then
      local set = VOTED .. name
      report(set .. " " .. comment.poster, nil, "there", function() redis.call("SADD", set, comment.poster) end)
    end
  end
  expect_number(comment.hash, "up", up, comment.up)
  expect_number(comment.hash, "down", down, comment.down)
  expect_expiry(VOTED .. name, comment.closes + GRACE)
  expect_expiry(DOWNVOTED .. name, comment.closes + GRACE)
end

-- Whether the path is that of a reply to the parent.
local function is_placed(path, above)
  if path.text == above.text then return path.index == above.index + 1 end
  local label = label_of(above)
  if path.index ~= 0 or string.sub(path.text, 1, #label) ~= label or #path.text == #label then return false end
  local _, last = decode(path.text, #label + 1)
  return last == #path.text + 1
end

local function verify_path()
  local tree, stubs = TREE .. comment.article, STUBS .. comment.article
  local above = not parent and ARTICLE_PATH or parent.path
  if not comment.path or not above or not is_placed(comment.path, above) then
    report(comment.hash .. " path", comment.path and label_of(comment.path), "a path below that of the parent")
    return
  end
  local member = tree_member(comment.path, name)
  expect_member(tree, member, 0)
  expect_member(stubs, member, is_stub and 0 or nil)
end

-- The newest comment of an article may have been deleted, so the time of any other is at most that of the activity.
local function verify_activity()
  local hash = ARTICLE .. comment.article
  local time, active, groups = unpack(redis.call("HMGET", hash, "time", "active", "groups"))
  if not tonumber(time) or not groups then return end -- verify_article.lua reports it
  if comment.time <= math.max(tonumber(time), tonumber(active) or 0) then return end
  report(hash .. " active", active, "at least " .. text(comment.time), function()
    redis.call("HSET", hash, "active", comment.time)
    index_activity(find_article(comment.article))
  end)
end

expect_field("depth", tostring(parent and parent.depth + 1 or 0))
if not is_stub then
  if ARGV[9] ~= "" then expect_field("slot", ARGV[9]) end
  verify_voters()
  verify_activity()
end
for _, order in ipairs(REPLY_ORDERS) do
  expect_member(REPLIES .. (comment.parent or comment.article) .. ":" .. order, comment.member,
    order_value(comment, order, SITE_WEIGHTS))
end
verify_path()
log_repairs("comment:" .. name)
return reply
