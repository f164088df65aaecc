-- Functions that change the text of an article: by an edit, or when a moderator approves an edit that waits.
-- requires: article_indexes, edits, notifications
-- from prelude: now (unix milliseconds), publish_event(kind, article, groups, id, channel), split(text) -> {word, ...}
-- from flags: forget_cleared_flags(number)
-- from article_indexes: set_link_digest(article, digest)
-- from held_edits: drop_edit(number, state, groups)
-- from log_text: append_text(kind, actor, type, number, ...) -> entry id
-- from edits: find_edit(number) -> fields by name | nil, changes_of(edit) -> {field, value, ...}
-- from notifications: newly_notified(poster, before, answered, most, mentioned) -> KIND:NAME:SLOT:TIME ...,
--   add_notified(hash, before, notified), with_notified(notified, ...) -> field, value, ...,
--   notify_here(notified, type, number, poster), note_effects(id, slots) -> {partition, entry id, ...},
--   slots_of(notified, ...) -> {slot, ...}
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
-- ARGV  3 now (unix milliseconds); no other is used here

-- Sets new values of an article's title, link or content: {field, value, ...}, where "" removes one. `link_digest` is
-- that of a new link. `mentioned` are usernames in lower case and the slots of these users, {name, slot, ...}; at most `most` mentions of
-- the article notify. Returns the id of the log's entry, what `note_effects` returns (the partitions in which it has
-- effects), and those whom it notifies at once (KIND:NAME:SLOT:TIME each).
local function change_article(article, changes, link_digest, most, mentioned) --> (entry id, effects, notified)
  local hash = KEY.article .. article.number
  redis.call("HSET", hash, "edited", now) -- first, so that a full store refuses it: after a removal none is refused
  for i = 1, #changes, 2 do
    if changes[i] == "link" then set_link_digest(article, link_digest) end
    if changes[i + 1] == "" then
      redis.call("HDEL", hash, changes[i])
    else
      redis.call("HSET", hash, changes[i], changes[i + 1])
    end
  end
  forget_cleared_flags(article.number)
  local notified = newly_notified(article.poster, article.notified, nil, most, mentioned)
  add_notified(hash, article.notified, notified)
  local told = notified -- those whom it notifies at once
  if article.state and notified ~= "" then -- it is hidden: `away` says that they are notified when it is shown again
    redis.call("HSET", hash, "away", "1")
    told = ""
  end
  local values = {with_notified(notified, "edited", ARGV[3], unpack(changes))}
  if told ~= notified then values = {"told", told, unpack(values)} end
  local id = append_text("edited", article.poster, "article", article.number, unpack(values))
  notify_here(told, "article", article.number, article.poster)
  publish_event("edited", article, article.groups, id)
  return id, note_effects(id, slots_of(told)), told
end

-- Applies the edit of an article that waits for approval. Returns what `change_article` does; nothing if none waits.
local function apply_edit(article) --> as change_article | nothing
  local edit = find_edit(article.number)
  if not edit then return end
  drop_edit(article.number, article.state, article.groups)
  local mentioned = split(edit.mentions or "")
  return change_article(article, changes_of(edit), edit.link_digest or "", edit.most_mentions, mentioned)
end
