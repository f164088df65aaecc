-- Edits that a rule of the site holds: the text that others read stays as it is, and the new one waits in the queue of what is
-- pending until a moderator approves or rejects it.
-- requires: flags
--
-- An edit is a hash: since when it waits (at), the rule (held_by), the new values of title, link or content ("" removes one),
-- the digest of a new link, and whom it mentions at most how often (mentions, most_mentions).
local EDITED = {"title", "link", "content"}

-- The edit that waits for an article or a comment, as a table of its fields; nil if there is none.
local function find_edit(number)
  local flat, edit = redis.call("HGETALL", KEY.heldedit .. number), {}
  for i = 1, #flat, 2 do edit[flat[i]] = flat[i + 1] end
  if edit.at then return edit end
end

-- The new values of an edit: {field, value, ...}.
local function changes_of(edit)
  local changes = {}
  for _, field in ipairs(EDITED) do
    if edit[field] then
      changes[#changes + 1] = field
      changes[#changes + 1] = edit[field]
    end
  end
  return changes
end

-- Sets where the edit of a visible thing waits that is in some groups; it leaves the queues of those in `left`. What is not
-- visible waits by its state.
local function queue_edit(number, state, groups, left)
  if state then return end
  local since = redis.call("HGET", KEY.heldedit .. number, "at")
  if since then set_waiting("pending", number, tonumber(since), groups, left) end
end

-- Lets an edit wait that `held_by` holds, instead of an earlier one. `mentioned` are usernames in lower case and slots.
local function hold_edit(subject, type, held_by, changes, link_digest, most, mentioned)
  local key = KEY.heldedit .. subject.number
  redis.call("DEL", key)
  redis.call("HSET", key, "at", ARGV[3], "held_by", held_by, "most_mentions", most, unpack(changes))
  if link_digest ~= "" then redis.call("HSET", key, "link_digest", link_digest) end
  if mentioned[1] then redis.call("HSET", key, "mentions", table.concat(mentioned, " ")) end
  queue_edit(subject.number, nil, subject.groups)
  local id = append_log("edit_held", subject.poster, type .. ":" .. subject.number)
  redis.call("PUBLISH", KEY.events, table.concat({"edit_held", subject.number, "-", id}, " "))
end

-- Drops the edit that waits for a thing, which is in some groups. Returns whether there was one.
local function drop_edit(number, state, groups)
  if redis.call("DEL", KEY.heldedit .. number) == 0 then return false end
  if state ~= "pending" then set_waiting("pending", number, nil, {}, groups) end
  return true
end

-- Drops the edit that another one of the poster's replaces, and says that it no longer waits.
local function replace_edit(subject, type)
  if not drop_edit(subject.number, subject.state, subject.groups) then return end
  local id = append_log("edit_dropped", subject.poster, type .. ":" .. subject.number)
  redis.call("PUBLISH", KEY.events, table.concat({"edit_dropped", subject.number, "-", id}, " "))
end

-- Moves the edits of an article and of its comments, whose groups were those in `before`, to the queues of others. They are
-- found among all that waits in the partition.
local function move_edits(article, groups, before)
  queue_edit(article.number, article.state, groups, before)
  if redis.call("EXISTS", KEY.tree .. article.number) == 0 then return end
  for _, member in ipairs(redis.call("ZRANGE", KEY.queue .. "pending:all", 0, -1)) do
    local number = string.format("%.0f", tonumber(member))
    local own, state = unpack(redis.call("HMGET", KEY.comment .. number, "article", "state"))
    if own == article.number then queue_edit(number, state or nil, groups, before) end
  end
end
