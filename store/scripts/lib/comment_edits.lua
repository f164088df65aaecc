-- Functions that change the text of a comment: by an edit, or when a moderator approves an edit that waits.
-- requires: comments, edits
-- from prelude: now (unix milliseconds), split(text) -> {word, ...}
-- from notifications: newly_notified(poster, before, answered, most, mentioned) -> KIND:NAME:SLOT:TIME ...,
--   add_notified(hash, before, notified), notify_here(notified, type, number, poster),
--   note_effects(id, slots) -> {partition, entry id, ...}, slots_of(notified, ...) -> {slot, ...}
-- from comments: note_written(article), is_listed(comment), publish_comment(kind, comment, id, groups, channel)
-- from flags: forget_cleared_flags(number)
-- from held_edits: drop_edit(number, state, groups)
-- from log_text: append_text(kind, actor, type, number, ...) -> entry id
-- from edits: find_edit(number) -> fields by name | nil

-- Sets the content of a comment. `mentioned` are usernames in lower case and slots, {name, slot, ...}; at most `most`
-- mentions of the comment notify. Returns the id of the log's entry, what `note_effects` returns (the partitions in
-- which it has effects), and those whom it notifies at once (KIND:NAME:SLOT:TIME each).
local function change_comment(comment, content, most, mentioned) --> (entry id, effects, notified)
  local notified = newly_notified(comment.poster, comment.notified, nil, most, mentioned)
  redis.call("HSET", comment.hash, "content", content, "edited", now)
  note_written(comment.article)
  add_notified(comment.hash, comment.notified, notified)
  local told = is_listed(comment) and notified or "" -- hidden: nobody is notified now
  forget_cleared_flags(comment.number)
  local id = append_text("comment_edited", comment.poster, "comment", comment.number,
    "article", comment.article, "content", content, "edited", now, "notified", notified, "told", told
  )
  notify_here(told, "comment", comment.number, comment.poster)
  publish_comment("comment_edited", comment, id)
  return id, note_effects(id, slots_of(told)), told
end

-- Applies the edit of a comment that waits for approval; `groups` are those of its article. Returns what `change_comment`
-- does; nothing if none waits.
local function apply_comment_edit(comment, groups) --> as change_comment | nothing
  local edit = find_edit(comment.number)
  if not edit then return end
  drop_edit(comment.number, comment.state, groups)
  return change_comment(comment, edit.content, edit.most_mentions, split(edit.mentions or ""))
end
