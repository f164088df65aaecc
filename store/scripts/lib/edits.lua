-- Edits that wait until a moderator approves or rejects them. Such an edit is a hash: since when it waits (at), the rule that
-- holds it (held_by), the new values of title, link or content ("" removes one), the digest of a new link, whom it mentions
-- (mentions, usernames in lower case and slots), and how many mentions notify (most_mentions).
-- requires: held_edits, log_text
-- from prelude: append_log(kind, actor, subject, ...) -> entry id, publish(kind, number, name, id, ...)
-- from held_edits: queue_edit(number, state, groups, groups_before), drop_edit(number, state, groups)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       heldedit: an edit that waits for approval
-- ARGV  3 now (unix milliseconds); no other is used here
local EDITED = {"title", "link", "content"}

-- The edit that waits for an article or a comment, as a table of its fields; nil if there is none.
local function find_edit(number) --> fields by name | nil
  local flat, edit = redis.call("HGETALL", KEY.heldedit .. number), {}
  for i = 1, #flat, 2 do edit[flat[i]] = flat[i + 1] end
  if edit.at then return edit end
end

-- The new values of an edit: {field, value, ...}.
local function changes_of(edit) --> {field, value, ...}
  local changes = {}
  for _, field in ipairs(EDITED) do
    if edit[field] then
      changes[#changes + 1] = field
      changes[#changes + 1] = edit[field]
    end
  end
  return changes
end

-- Stores an edit that the rule `held_by` holds for approval, in place of an earlier one. `type` is "article" or
-- "comment"; `mentioned` are usernames in lower case and slots; `most` is how many mentions notify.
local function hold_edit(subject, type, held_by, changes, link_digest, most, mentioned)
  local key = KEY.heldedit .. subject.number
  if redis.call("EXISTS", key) == 1 then redis.call("DEL", key) end -- only then: a full store refuses no write after a DEL
  redis.call("HSET", key, "at", ARGV[3], "held_by", held_by, "most_mentions", most, unpack(changes))
  if link_digest ~= "" then redis.call("HSET", key, "link_digest", link_digest) end
  if mentioned[1] then redis.call("HSET", key, "mentions", table.concat(mentioned, " ")) end
  queue_edit(subject.number, nil, subject.groups)
  local id = append_log("edit_held", subject.poster, type .. ":" .. subject.number)
  publish("edit_held", subject.number, "-", id) -- "-": the event names nobody
end

-- Drops a waiting edit because the poster has made another one, and publishes that it no longer waits.
local function replace_edit(subject, type)
  if not drop_edit(subject.number, subject.state, subject.groups) then return end
  local id = append_log("edit_dropped", subject.poster, type .. ":" .. subject.number)
  publish("edit_dropped", subject.number, "-", id) -- "-": the event names nobody
end
