-- Functions of the scripts that verify stored data, each the value or the members of one key. They report what is wrong
-- and, with "repair", write what it should be, derived from other keys, in the same step.
-- requires: log_entry, prelude
-- from log_entry: log_entry(log, events, at, kind, actor, subject, ...) -> entry id
-- from prelude: split(text) -> {word, ...}, now (unix milliseconds), window (milliseconds in which votes are open)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       leaving: users who are being deleted
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 "repair" or ""   8 name: the last part of the key, after its kind and partition: `42` of `article:{0}:42`
--       from 9 on: see the script
-- Reply {next cursor, or "0"; then for each finding: key with field or member, found value, expected value, "repaired"
--       or ""}
local repairing = ARGV[7] == "repair" -- whether findings are repaired
local name = ARGV[8] -- what the key ends with: a number, a username or a group
local MAX_DELAY = 10000 -- milliseconds that a command may take from its sender to here

local reply = {"0"} -- the next cursor, then four values of each finding

-- A value as the report has it.
local function text(value)
  return type(value) == "number" and string.format("%.17g", value) or value or "nothing"
end

-- Whether a text, such as a key with a member, has the name of a user who is being deleted, or the pseudonym of one.
local function names_leaver(where)
  for _, leaver in ipairs(redis.call("ZRANGE", KEY.leaving, 0, -1)) do
    local username, pseudonym = unpack(split(string.lower(leaver)))
    for word in string.gmatch(string.lower(where), "[^%s:]+") do
      if word == username or word == pseudonym then return true end
    end
  end
  return false
end

-- Adds a finding. `repair` repairs it; nil if the expected value cannot be derived. What names a user who is being deleted is
-- left out: keys get the pseudonym step by step, and then it has an account.
local function report(where, found, expected, repair)
  if names_leaver(where) then return end
  if repairing and repair then repair() end
  for _, each in ipairs({where, text(found), text(expected), repairing and repair and "repaired" or ""}) do
    reply[#reply + 1] = each
  end
end

-- Expects a member of a sorted set to have a value; nil: to be missing.
local function expect_member(index, member, value)
  local found = redis.call("ZSCORE", index, member)
  if found and tonumber(found) == value or not found and not value then return end
  report(index .. " " .. member, found, value, function()
    if value then redis.call("ZADD", index, value, member) else redis.call("ZREM", index, member) end
  end)
end

-- Whether a name, as written, is that of a user, also of one who is being deleted.
local function is_user(username)
  return redis.call("HGET", KEY.user .. string.lower(username), "name") == username or names_leaver(username)
end

local repaired = {} -- fields and values of the entry in the log

-- Expects a field of a hash to have a number.
local function expect_number(hash, field, found, value)
  if tonumber(found) == value then return end
  report(hash .. " " .. field, found, value, function()
    redis.call("HSET", hash, field, value)
    repaired[#repaired + 1] = field
    repaired[#repaired + 1] = value
  end)
end

-- Appends an entry to the log if the record itself was repaired. What is derived from records is not in the log.
local function log_repairs(subject)
  if repaired[1] then log_entry(KEY.log, KEY.events, ARGV[3], "repaired", "", subject, unpack(repaired)) end
end

-- Expects a key to expire at an instant (unix milliseconds), or before.
local function expect_expiry(key, instant)
  local expires_in, most = redis.call("PTTL", key), instant - now
  local NO_KEY, NO_EXPIRY = -2, -1
  if expires_in == NO_KEY or expires_in ~= NO_EXPIRY and expires_in <= most + MAX_DELAY then return end
  report(key .. " TTL", expires_in == NO_EXPIRY and "none" or expires_in, "at most " .. text(math.max(most, 0)), function()
    redis.call("PEXPIRE", key, most)
  end)
end

local ONLY_DIGITS = "^%d+$" -- a pattern
local FIELDS = { -- of the hash of an article
  "title", "poster", "time", "groups", "imported", "edited", "up", "down", "comments", "active", "state", "locked",
}
local OPTIONAL = {imported = true, edited = true, comments = true, active = true, state = true, locked = true}
local HIDDEN_STATES = {pending = true, removed = true} -- of articles that are not visible
local PATTERNS = { -- of usable values
  title = ".", poster = "^~?[%w_-]+$", time = ONLY_DIGITS, groups = "^[%l%d_ -]*$", imported = ONLY_DIGITS,
  edited = ONLY_DIGITS, up = ONLY_DIGITS, down = ONLY_DIGITS, locked = "^1$",
  comments = "", active = "", -- these two are verified with the comments
}

-- Whether a field of an article may have this value; nil or false: it is missing.
local function is_usable(field, value)
  if not value then return OPTIONAL[field] end
  if field == "state" then return HIDDEN_STATES[value] end
  return string.find(value, PATTERNS[field]) ~= nil
end

-- Counts the votes of an article or a comment by its voters, and sets its `up` and `down`: the poster is among the upvoters,
-- and nobody is in both sets. Also sets `both`, the voters who are, and `lacks_poster`.
local function count_voters(article)
  local voted, downvoted = KEY.voted .. article.number, KEY.downvoted .. article.number
  article.both = redis.call("SINTER", voted, downvoted)
  article.lacks_poster = redis.call("SISMEMBER", voted, article.poster) == 0
  article.up = redis.call("SCARD", voted) + (article.lacks_poster and 1 or 0) + (tonumber(article.fields.imported) or 0)
  article.down = redis.call("SCARD", downvoted) - #article.both
end

-- Expects no voter of an article or comment, as `count_voters` has found them, in both sets, and its poster among those who
-- voted up. The entry in the log names those whose votes are upvotes after the repair.
local function expect_voters(subject)
  local voted, downvoted, upvoters = KEY.voted .. subject.number, KEY.downvoted .. subject.number, {}
  for _, voter in ipairs(subject.both) do
    report(downvoted .. " " .. voter, "there", "in one set only", function()
      redis.call("SREM", downvoted, voter)
      upvoters[#upvoters + 1] = voter
    end)
  end
  if subject.lacks_poster then
    report(voted .. " " .. subject.poster, nil, "there", function()
      redis.call("SADD", voted, subject.poster)
      upvoters[#upvoters + 1] = subject.poster
    end)
  end
  if upvoters[1] then
    repaired[#repaired + 1] = "upvoters"
    repaired[#repaired + 1] = table.concat(upvoters, " ")
  end
end

-- Reads an article with the votes that it should have; nil if there is none. `fields` has the hash as it is, `invalid`
-- lists fields with invalid values. While voting is open, until `closes`, votes are derived from the voters
-- (`counted`); later only the hash has them.
local function examine(number) --> article | nil
  local hash, fields, invalid = KEY.article .. number, {}, {}
  for i, found in ipairs(redis.call("HMGET", hash, unpack(FIELDS))) do fields[FIELDS[i]] = found end
  if not fields.poster and redis.call("EXISTS", hash) == 0 then return nil end

  local closes = (tonumber(fields.time) or 0) + window
  local counted = now <= closes and redis.call("EXISTS", KEY.voted .. number) == 1
  for _, field in ipairs(FIELDS) do
    local is_derived = counted and (field == "up" or field == "down")
    if not is_derived and not is_usable(field, fields[field]) then invalid[#invalid + 1] = field end
  end
  local article = {
    number = number, member = string.format("%016.0f", tonumber(number)), hash = hash, fields = fields,
    invalid = invalid, poster = fields.poster, time = tonumber(fields.time), groups = split(fields.groups or ""),
    closes = closes, counted = counted, up = tonumber(fields.up), down = tonumber(fields.down),
    comments = fields.comments, active = fields.active, state = fields.state or nil,
  }
  if counted and not invalid[1] then count_voters(article) end
  return article
end
