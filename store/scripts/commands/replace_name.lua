-- Replace the name of a user who is being deleted by the pseudonym, a random name, in some keys of this partition. What
-- follows from an article or a comment, such as its place in the user's list, moves with it.
-- requires: article_indexes
-- from prelude: require_writable(), split(text) -> {word, ...}, find_article(number) -> fields by name | nil,
--   add_karma(article, votes), append_log(kind, actor, subject, ...) -> entry id, publish(kind, number, name, id, ...)
-- from article_indexes: karma_of(article) -> number, archived_of(name) -> (count, unix milliseconds),
--   set_archived_of(name, count, newest)
-- flags: allow-oom
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       logged: ids of the log's entries with texts, by number or user   held: a user's pending and removed articles
--       posters: usernames, by the time of the newest article
--       unlisted: a user's comments that are hidden, or whose article is
--       heldcomments: a user's pending and removed comments   actions: actions of moderators, by time
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 username, as written   8 pseudonym
--       9 "1" to remove the entries of the log with texts of the user, too, else ""
--       from 10 on: keys that may have the name, and logged:{p}:N for each archived article N of the user
-- Reply {"replaced", 1 if anything has changed, else 0}
require_writable()
local written, name, pseudonym = ARGV[7], string.lower(ARGV[7]), ARGV[8] -- `name` is the username in lower case
local drops = ARGV[9] == "1" -- whether entries with texts are removed
local has_changed, entries = 0, {} -- 1 once anything has changed; ids of entries that were removed from the log

-- Runs a command that changes something, and notes that something has changed.
local function call(...)
  has_changed = 1
  return redis.call(...)
end

-- Replaces the name in a field of a hash that holds nothing else.
local function replace_field(key, field)
  if redis.call("HGET", key, field) == written then call("HSET", key, field, pseudonym) end
end

-- Takes the user out of those whom a text, or an action, has notified: KIND:NAME:SLOT:TIME each.
local function forget_notified(key)
  local notified = redis.call("HGET", key, "notified")
  if not notified or not string.find(notified, ":" .. name .. ":", 1, true) then return end
  local kept = {}
  for word in string.gmatch(notified, "%S+") do
    if string.match(word, "^%l+:([^:]+):") ~= name then kept[#kept + 1] = word end
  end
  if kept[1] then
    call("HSET", key, "notified", table.concat(kept, " "))
  else
    call("HDEL", key, "notified")
  end
end

local function drop_entries(number)
  local noted = redis.call("HGET", KEY.logged, number)
  if not noted then return end
  for _, entry in ipairs(split(noted)) do
    call("XDEL", KEY.log, entry)
    entries[#entries + 1] = entry
  end
  redis.call("HDEL", KEY.logged, number)
end

local function replace_voter(key)
  if redis.call("SISMEMBER", key, written) == 0 then return end
  call("SADD", key, pseudonym) -- first, as an empty set would lose its expiry
  redis.call("SREM", key, written)
end

-- Makes the pseudonym the poster of an article.
local function take_over(number)
  local article = find_article(number)
  local list, karma = article.state and KEY.held or KEY.timeline, karma_of(article)
  call("HSET", KEY.article .. number, "poster", pseudonym)
  replace_voter(KEY.voted .. number)
  if redis.call("ZREM", list .. name, article.member) == 1 then
    redis.call("ZADD", list .. pseudonym, article.time, article.member)
  end
  add_karma(article, -karma)
  article.poster = pseudonym
  add_karma(article, karma)
  if not article.state then redis.call("ZADD", KEY.posters, "GT", article.time, pseudonym) end
end

-- The function for each kind of key: its arguments are the key and what follows its partition, such as a number.
local REPLACE = {voted = replace_voter, downvoted = replace_voter}

function REPLACE.article(key, number)
  local poster = redis.call("HGET", key, "poster")
  forget_notified(key)
  if poster == written then take_over(number) end
  if drops and (poster == written or poster == pseudonym) then drop_entries(number) end
end

function REPLACE.comment(key, number)
  local poster = redis.call("HGET", key, "poster")
  forget_notified(key)
  replace_field(key, "poster")
  if poster == written then replace_voter(KEY.voted .. number) end
  if drops and (poster == written or poster == pseudonym) then drop_entries(number) end
end

function REPLACE.annulled(key)
  local held = redis.call("HGET", key, written)
  if not held then return end
  call("HSET", key, pseudonym, held)
  redis.call("HDEL", key, written)
end

function REPLACE.flags(key)
  local flag = redis.call("HGET", key, name)
  if not flag then return end
  local before, after = string.match(flag, "^(%S+ %S+ )%S+(.*)$") -- AT REASON NAME ..., see flags.lua
  call("HSET", key, pseudonym, before .. pseudonym .. after)
  redis.call("HDEL", key, name)
end

-- Takes the user out of those whom an edit that waits would notify: NAME SLOT NAME SLOT ...
function REPLACE.heldedit(key)
  local mentions, kept = redis.call("HGET", key, "mentions"), {}
  if not mentions or not string.find(" " .. mentions .. " ", " " .. name .. " ", 1, true) then return end
  for each, slot in string.gmatch(mentions, "(%S+) (%S+)") do
    if each ~= name then kept[#kept + 1] = each .. " " .. slot end
  end
  if kept[1] then
    call("HSET", key, "mentions", table.concat(kept, " "))
  else
    call("HDEL", key, "mentions")
  end
end

function REPLACE.action(key)
  replace_field(key, "moderator")
  if redis.call("HGET", key, "subject") == "user:" .. name then call("HSET", key, "subject", "user:" .. pseudonym) end
  forget_notified(key)
end

function REPLACE.appeal(key)
  replace_field(key, "username")
  replace_field(key, "answered_by")
end

-- Deletes the reply that is kept for a call, if it has the name: such a call runs again if it is sent again.
function REPLACE.answer(key)
  for word in string.gmatch(string.lower(redis.call("GET", key)), "[%w_-]+") do
    if word == name then return call("DEL", key) end
  end
end

-- The hash of any user: the field `upvoters` has names.
function REPLACE.user(key)
  local known = redis.call("HGET", key, "upvoters")
  if not known or not string.find(" " .. known .. " ", " " .. written .. " ", 1, true) then return end
  local names = split(known)
  for place, each in ipairs(names) do if each == written then names[place] = pseudonym end end
  call("HSET", key, "upvoters", table.concat(names, " "))
end

-- Takes the user off a list of usernames.
local function leave_list(key)
  if redis.call("ZREM", key, written) == 1 then has_changed = 1 end
end
REPLACE.following, REPLACE.followers, REPLACE.groupfollowers = leave_list, leave_list, leave_list
REPLACE.moderators, REPLACE.blocked, REPLACE.unblocked = leave_list, leave_list, leave_list

-- Moves to the pseudonym how many articles of the user are archived. The counts are added, as some may have been archived
-- under the pseudonym already.
function REPLACE.archived(key)
  redis.call("HDEL", key, "top:timeline:" .. name)
  if redis.call("HEXISTS", key, "user:" .. name) == 0 then return end
  local count, newest = archived_of(name)
  local count_of_pseudonym, newest_of_pseudonym = archived_of(pseudonym)
  has_changed = 1
  set_archived_of(pseudonym, count + count_of_pseudonym, math.max(newest, newest_of_pseudonym))
  set_archived_of(name, 0, 0)
end

-- Moves an index of the user, or of the actions about the user, to the pseudonym.
local function merge(key, target)
  call("ZUNIONSTORE", target, 2, target, key, "AGGREGATE", "MAX")
  redis.call("UNLINK", key)
end
local LISTS = {
  timeline = KEY.timeline, held = KEY.held, comments = KEY.comments, unlisted = KEY.unlisted,
  heldcomments = KEY.heldcomments,
}
for kind, beginning in pairs(LISTS) do
  REPLACE[kind] = function(key, owner) if owner == name then merge(key, beginning .. pseudonym) end end
end
function REPLACE.actions(key, scope)
  if scope == "user:" .. name then merge(key, KEY.actions .. "user:" .. pseudonym) end
end

for i = 10, #ARGV do
  local kind, suffix = string.match(ARGV[i], "^(%l+):{%d+}:?(.*)$") -- KIND:{PARTITION}:SUFFIX
  if kind == "logged" and drops then drop_entries(suffix) end
  if REPLACE[kind] and redis.call("EXISTS", ARGV[i]) == 1 then REPLACE[kind](ARGV[i], suffix) end
end
if entries[1] then
  local id = append_log(
    "user_deleted", "", "user:" .. name, "name", written, "pseudonym", pseudonym, "entries", table.concat(entries, " ")
  )
  publish("user_deleted", 0, "-", id) -- "-": the event names nobody
end
return {"replaced", has_changed}
