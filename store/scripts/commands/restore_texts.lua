-- Revert some removals of texts in this partition: those by a ban which was reverted. From the first call on, that ban removes
-- no text here any more. What others have decided about a text since the ban stays.
-- requires: article_states, comment_states, decisions
-- from prelude: require_writable(), now (unix milliseconds), find_article(number) -> fields by name | nil
-- from slots: SLOTS (how many slots there are, as in store/keys.py)
-- from article_states: set_state(article, state, actor, rule), put_back_in_group(article, group, actor)
-- from comments: find_comment(number) -> fields by name | nil,
--   find_article_info(number) -> {poster, time, state, locked, groups} | nil
-- from comment_states: set_comment_state(comment, state, actor, limit, rule) -> {entry id, effects, state, poster, ...}
-- from actions: record_revert(slot, number, action, moderator, reason, note, notified) -> (number, entry id),
--   revertible(number) -> fields by name | nil
-- from decisions: state_after_revert(subject, current) -> (state | nil, kind | nil, rule | nil)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       lifted: bans that were reverted   actions: actions of moderators, by time
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of partitions   8 number of the ban   9 who has reverted it   10 reason
--       11 highest number of groups of an article
--       12 how many comments above one get or lose their places in the thread at most
--       13 rank of the removal to begin with, by time   14 how many removals to read
-- Reply {rank of the next call, or "" at the end; numbers of the articles and comments that are not here: deleted, or
--       archived; then what `set_comment_state` returns for each comment that has changed, after its number}
-- The body is a function, as a script has at most 200 local names outside of functions.
local function restore_texts()
  require_writable()
  local ban, moderator, first, count = ARGV[8], ARGV[9], tonumber(ARGV[13]), tonumber(ARGV[14])
  local HOUR = 3600000 -- milliseconds: by then no late process removes texts
  redis.call("ZADD", KEY.lifted, now, ban)
  redis.call("ZREMRANGEBYSCORE", KEY.lifted, "-inf", now - HOUR)
  redis.call("PEXPIRE", KEY.lifted, HOUR)

  local function is_in(groups, wanted)
    for _, each in ipairs(groups) do if each == wanted then return true end end
    return false
  end

  -- Records the revert of a removal, which is an action with a number; number % SLOTS is its slot.
  local function record(number, action)
    local reason, NO_NOTE, NOBODY = ARGV[10], "", "" -- nobody is notified
    record_revert(number % SLOTS, number, action, moderator, reason, NO_NOTE, NOBODY)
  end

  -- An article that was taken out of a group, and is in too many by now, stays out of it, and the removal stands.
  local function restore_article(number, action, article)
    local group = action.group or ""
    if group == "" then
      record(number, action)
      local state, _, rule = state_after_revert(action.subject, article.state)
      if state ~= article.state then set_state(article, state, moderator, rule) end
    elseif is_in(article.groups, group) or #article.groups < tonumber(ARGV[11]) then
      record(number, action)
      if not is_in(article.groups, group) then put_back_in_group(article, group, moderator) end
    end
  end

  -- Returns what `set_comment_state` does; nil if nothing has changed.
  local function restore_comment(number, action, comment)
    record(number, action)
    local state, _, rule = state_after_revert(action.subject, comment.state)
    if state == comment.state then return nil end
    return set_comment_state(comment, state, moderator, tonumber(ARGV[12]), rule)
  end

  local members, reply = redis.call("ZRANGE", KEY.actions .. "ban:" .. ban, first, first + count - 1), {"", {}}
  for _, member in ipairs(members) do
    local number = string.format("%.0f", tonumber(member))
    local action = revertible(number)
    local type, subject = string.match(action and action.subject or "", "^(%l+):(%d+)$")
    local article = type == "article" and find_article(subject)
    local comment = type == "comment" and find_comment(subject)
    local is_there = article or comment and find_article_info(comment.article)
    if type and not is_there then table.insert(reply[2], subject) end
    if article then restore_article(number, action, article) end
    if comment and comment.state ~= "deleted" and is_there then
      local change = restore_comment(number, action, comment)
      if change then
        reply[#reply + 1] = subject
        reply[#reply + 1] = change
      end
    end
  end
  if #members == count then reply[1] = string.format("%.0f", first + count) end
  return reply
end
return restore_texts()
