-- Functions of the scripts that annul votes and restore them: the votes of one voter in one partition, in steps. An action of
-- a moderator annuls votes, which takes them out of the counts.
-- requires: annulled, archived_values, article_indexes, comments, recounts, upvoters
-- from prelude: add_place(index, value, member), add_karma(article, votes),
--   read_ranking(groups) -> {orders, own, next_weights}, split(text) -> {word, ...}, member_of(number) -> 16 digits,
--   update_indexes(article, before), good_votes (how many votes make an article good),
--   SITE_WEIGHTS (vote_score, hot_seconds and best_z of the site), append_log(kind, actor, subject, ...) -> entry id,
--   publish(kind, number, name, id, ...)
-- from archived_values: note_greatest(listing, value), note_orders(article, prefix, weights)
-- from notifications: is_here(slot), note_effects(id, slots) -> {partition, entry id, ...}
-- from comments: find_comment(number) -> fields by name | nil,
--   find_article_info(number) -> {poster, time, state, locked, groups} | nil, add_comment_karma(comment, votes),
--   keep_place(comment, lifetime, before), note_move(comment, before), note_written(article), update_replies(comment, before)
-- from recounts: has_counts(number, position), note_recounted(members, id)
-- from upvoters: add_upvoter(account, voter), remove_upvoter(account, voter)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       cases: articles and comments with a vote that an action annuls
--       moving: articles about to leave Redis or just back: what the database has of them does not count
--       left: archived articles whose comments Redis still has
--       archived: how many articles are only in the SQL database, and their greatest values
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of partitions   8 number of the action   9 voter
--       10 how long pages keep the places that comments had before (milliseconds)
--       11 id of the last entry of the log that the database had read when archived articles were read there, or ""
--
-- An archived article is given by words: poster, posting time, upvotes, downvotes, groups with commas, or "-", and state; an
-- archived comment by poster, slot of the poster (which decides their partition), posting time, upvotes, downvotes, number
-- of its article, and state.
local case, voter = ARGV[8], ARGV[9] -- the case is the number of the action
local read_up_to = ARGV[11] -- the last entry of the log that the database had read
-- What this step has changed: `vote_words` for the entry of the log and `event_words` for the event have a word for each
-- vote; `slots` and `karma_by_poster` are of posters of comments who are in other partitions; `recounted` are members of
-- what is archived.
local vote_words, event_words, slots, karma_by_poster, recounted = {}, {}, {}, {}, {}
local places, karma_here, released = {}, {}, {} -- places by index, changes of karma by poster, members of `cases` to remove
local upvoted_here, upvoted_elsewhere = {}, {} -- posters with upvotes among these votes, in this partition and in others
local group_lists = {} -- lists of groups, by the text that they were parsed from

-- A step changes many articles, and each call of a command takes time: the places of an index are written at once, in
-- `write_gathered`, as is the karma of a poster. How groups are ranked is read once.
add_place = function(index, value, member)
  local of_index = places[index]
  if not of_index then
    of_index = {}
    places[index] = of_index
  end
  of_index[#of_index + 1] = value
  of_index[#of_index + 1] = member
end

add_karma = function(article, votes)
  local poster = string.lower(article.poster)
  karma_here[poster] = (karma_here[poster] or 0) + votes
end

do
  local rankings, read_anew = {}, read_ranking
  read_ranking = function(groups)
    rankings[groups] = rankings[groups] or read_anew(groups)
    return rankings[groups]
  end
end

-- The list of the groups in a text, the same one for all articles in these groups.
local function groups_in(text)
  group_lists[text] = group_lists[text] or split(text)
  return group_lists[text]
end

-- How many articles and comments the step is about, and how many of them have the key `prefix` .. number. From 13 on, each
-- has `step` arguments, and the first of these is its number.
local function count_keys(prefix, step) --> (number of subjects, number of keys)
  local names = {}
  for i = 13, #ARGV, step do names[#names + 1] = prefix .. ARGV[i] end
  return #names, names[1] and redis.call("EXISTS", unpack(names)) or 0
end

-- Notes that the action does not hold the vote on a subject any more.
local function release_member(member)
  released[#released + 1] = member
end

-- `kind` is that of the entry: votes_annulled or votes_restored.
local function write_gathered(kind)
  for index, of_index in pairs(places) do redis.call("ZADD", index, unpack(of_index)) end
  for poster, votes in pairs(karma_here) do redis.call("HINCRBY", KEY.user .. poster, "karma", votes) end
  local set_upvoter = kind == "votes_restored" and add_upvoter or remove_upvoter
  for poster in pairs(upvoted_here) do set_upvoter(KEY.user .. poster, voter) end
  if released[1] then redis.call("ZREM", KEY.cases .. case, unpack(released)) end
end

-- The archived article that some words describe; nil if it has left the archive or was changed since.
local function archived_article(number, words)
  local poster, time, up, down, groups, state = string.match(words, "^(%S+) (%d+) (%d+) (%d+) (%S+) (%l+)$")
  if not poster or not has_counts(number, read_up_to) or redis.call("SISMEMBER", KEY.moving, number) == 1 then return nil end
  if redis.call("EXISTS", KEY.user .. string.lower(poster)) == 0 then return nil end -- the poster was deleted since
  return {
    type = "archived", number = number, member = member_of(number), poster = poster,
    time = tonumber(time), up = tonumber(up), down = tonumber(down),
    groups = groups ~= "-" and groups_in((string.gsub(groups, ",", " "))) or {}, state = state ~= "visible" and state or nil,
  }
end

-- The archived comment that some words describe; nil if its conversation moves, or it was changed since.
local function archived_comment(number, words)
  local poster, slot, time, up, down, article, state =
    string.match(words, "^(%S+) (%d+) (%d+) (%d+) (%d+) (%d+) (%S+)$")
  if not poster or not has_counts(number, read_up_to) or redis.call("SISMEMBER", KEY.moving, article) == 1 then return nil end
  if redis.call("ZSCORE", KEY.left, article) or redis.call("EXISTS", KEY.article .. article) == 1 then return nil end
  local is_gone = state ~= "deleted" and is_here(slot) and redis.call("EXISTS", KEY.user .. string.lower(poster)) == 0
  if is_gone then return nil end
  return {
    type = "archived_comment", number = number, member = member_of(number), poster = poster, slot = slot,
    time = tonumber(time), up = tonumber(up), down = tonumber(down), article = article,
    state = state ~= "visible" and state or nil,
  }
end

-- An article without its texts; nil if it is not here.
local function find_counted(number)
  local poster, time, up, down, groups, state =
    unpack(redis.call("HMGET", KEY.article .. number, "poster", "time", "up", "down", "groups", "state"))
  if not poster then return nil end
  return {
    type = "article", number = number, member = member_of(number), poster = poster, state = state,
    time = tonumber(time), up = tonumber(up), down = tonumber(down), groups = groups_in(groups),
  }
end

-- Finds an article or a comment, also an archived one; nil if there is none, or if its article is gone. `type` says what it is.
local function find_subject(number, archived) --> fields by name | nil
  local article = find_counted(number)
  if article then return article end
  local comment = find_comment(number)
  if not comment then return archived_article(number, archived) or archived_comment(number, archived) end
  if not find_article_info(comment.article) then return nil end
  comment.type = "comment"
  return comment
end

local function add_article_count(article, before)
  local changed_count = article.up ~= before.up and "up" or "down"
  redis.call("HSET", KEY.article .. article.number, changed_count, article[changed_count])
  if not article.state then update_indexes(article, before) end
  if article.state ~= "removed" then add_karma(article, article.up - article.down - before.up + before.down) end
end

-- Adds votes to the karma of a comment's poster. An archived comment has nothing else here: the database has its counts.
local function add_votes_on_comment(comment, before)
  if comment.state == "removed" then return end
  local change, poster = comment.up - comment.down - before.up + before.down, string.lower(comment.poster)
  if is_here(comment.slot) then
    add_comment_karma(comment, change)
  else
    slots[#slots + 1] = comment.slot
    karma_by_poster[poster] = (karma_by_poster[poster] or 0) + change
  end
end

local function add_comment_count(comment, before)
  keep_place(comment, ARGV[10], before)
  note_move(comment, before)
  redis.call("HSET", comment.hash, "up", comment.up, "down", comment.down)
  note_written(comment.article)
  if not comment.bare then update_replies(comment, before) end -- `bare`: a thread has no place for it
  add_votes_on_comment(comment, before)
end

-- Of an archived article the database has the counts and the places. Here are the karma of its poster, how many are good, and
-- the greatest values, which are never lowered; nothing of one that was removed.
local function add_archived_count(article, before)
  if article.state then return end
  add_karma(article, article.up - article.down - before.up + before.down)
  local is_good, was_good = article.up - article.down >= good_votes, before.up - before.down >= good_votes
  if is_good ~= was_good then redis.call("HINCRBY", KEY.archived, "count:good", is_good and 1 or -1) end
  if is_good then note_greatest("good", article.time) end
  local ranking = read_ranking(article.groups)
  note_orders(article, "", SITE_WEIGHTS)
  for _, group in ipairs(article.groups) do
    note_orders(article, "group:" .. group .. ":", ranking.own[group] or SITE_WEIGHTS)
  end
end

-- Notes that upvotes of a subject's poster are among the votes of this step.
local function note_upvoted(subject)
  local poster = string.lower(subject.poster)
  if not subject.article or is_here(subject.slot) then -- only a comment has an article
    upvoted_here[poster] = true
  else
    slots[#slots + 1] = subject.slot
    upvoted_elsewhere[poster], karma_by_poster[poster] = true, karma_by_poster[poster] or 0
  end
end

local ADD_COUNT = {
  article = add_article_count, archived = add_archived_count,
  comment = add_comment_count, archived_comment = add_votes_on_comment,
}

-- Adds a vote of a value (1 or -1) to the counts of a subject, or with `sign` -1 takes it from them, and notes the change for
-- the entry in the log and for the event.
local function count_vote(subject, value, sign)
  local before = {time = subject.time, up = subject.up, down = subject.down}
  if value == 1 then subject.up = subject.up + sign else subject.down = subject.down + sign end
  ADD_COUNT[subject.type](subject, before)
  if value == 1 then note_upvoted(subject) end
  vote_words[#vote_words + 1] = string.format( -- TYPE:NUMBER:VALUE:UP:DOWN
    "%s:%s:%d:%.0f:%.0f", subject.type, subject.number, value, subject.up, subject.down
  )
  event_words[#event_words + 1] = subject.article -- which only a comment has
    and string.format("comment:%s:%s:%s", subject.number, subject.poster, subject.article)
    or string.format("article:%s:%s:%s", subject.number, subject.poster, table.concat(subject.groups, ","))
  if subject.type == "archived" then recounted[#recounted + 1] = subject.member end
  if subject.type == "archived_comment" then -- its article does not come back before the database has the counts
    recounted[#recounted + 1] = subject.member
    recounted[#recounted + 1] = member_of(subject.article)
  end
end

-- Writes what was gathered, logs and publishes the changes of this step. Returns the id of the entry, what `note_effects`
-- returns, and words POSTER:CHANGE:UPVOTED of posters in other partitions: by how much the karma changes, and 1 if upvotes are
-- among the votes, else 0; "", {} and "" if nothing has changed.
local function log_votes(kind) --> (entry id, effects, changes of karma)
  write_gathered(kind)
  if not vote_words[1] then return "", {}, "" end
  local words = {}
  for poster, change in pairs(karma_by_poster) do
    words[#words + 1] = string.format("%s:%d:%d", poster, change, upvoted_elsewhere[poster] and 1 or 0)
  end
  table.sort(words)
  local karma = table.concat(words, " ")
  local id = append_log(
    kind, "", "action:" .. case, "voter", voter, "votes", table.concat(vote_words, " "), "karma", karma
  )
  if recounted[1] then note_recounted(recounted, id) end
  publish(kind, 0, voter, id, unpack(event_words))
  return id, note_effects(id, slots), karma
end
