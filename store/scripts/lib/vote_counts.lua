-- What the scripts that annul and restore votes share: votes of one voter in one partition, in steps.
-- requires: annulled, article_indexes, comments
-- ARGV  1-7 see comments.lua   8 number of the action   9 voter   10 how long to keep the places of comments (milliseconds)
local case, voter = ARGV[8], ARGV[9]
local changed, articles, slots, karma_by_poster = {}, {}, {}, {} -- of this step

-- Finds an article or a comment; nil if there is none here, or if its article is gone. `type` says what it is.
local function find_subject(number)
  local article = find_article(number)
  if article then
    article.type = "article"
    return article
  end
  local comment = find_comment(number)
  if not comment or not find_home(comment.article) then return nil end
  comment.type = "comment"
  return comment
end

local function member_of(number)
  return string.rep("0", 16 - #number) .. number
end

local function add_article_count(article, before)
  redis.call("HSET", KEY.article .. article.number, "up", article.up, "down", article.down)
  if not article.state then update_indexes(article, before) end
  if article.state ~= "removed" then add_karma(article, article.up - article.down - before.up + before.down) end
end

local function add_comment_count(comment, before)
  if not comment.bare then keep_place(comment, ARGV[10]) end
  redis.call("HSET", comment.hash, "up", comment.up, "down", comment.down, "moves", add_move(comment.moves, before))
  if not comment.bare then update_replies(comment, before) end
  if comment.state == "removed" then return end
  local change, poster = comment.up - comment.down - before.up + before.down, string.lower(comment.poster)
  if is_here(comment.slot) then
    add_comment_karma(comment, change)
  else
    slots[#slots + 1] = comment.slot
    karma_by_poster[poster] = (karma_by_poster[poster] or 0) + change
  end
end

-- Adds a vote of a value (1 or -1) to the counts of a subject, or with `sign` -1 takes it from them, and notes the change for
-- the entry in the log and for the event.
local function count_vote(subject, value, sign)
  local before = {time = subject.time, up = subject.up, down = subject.down}
  if value == 1 then subject.up = subject.up + sign else subject.down = subject.down + sign end
  if subject.type == "article" then add_article_count(subject, before) else add_comment_count(subject, before) end
  changed[#changed + 1] = string.format(
    "%s:%s:%d:%.0f:%.0f", subject.type, subject.number, value, subject.up, subject.down
  )
  articles[#articles + 1] = subject.type == "article"
    and string.format("article:%s:%s:%s", subject.number, subject.poster, table.concat(subject.groups, ","))
    or string.format("comment:%s:%s:%s", subject.number, subject.poster, subject.article)
end

-- Logs and publishes the changes of this step. Returns the id of the entry, what `note_effects` returns, and the changes of
-- karma of posters with another home, as words; "", {} and "" if nothing has changed.
local function log_votes(kind)
  if not changed[1] then return "", {}, "" end
  local words = {}
  for poster, change in pairs(karma_by_poster) do words[#words + 1] = string.format("%s:%d", poster, change) end
  table.sort(words)
  local karma = table.concat(words, " ")
  local id = append_log(
    kind, "", "action:" .. case, "voter", voter, "votes", table.concat(changed, " "), "karma", karma
  )
  redis.call("PUBLISH", KEY.events, table.concat({kind, 0, voter, id, unpack(articles)}, " "))
  return id, note_effects(id, slots), karma
end
