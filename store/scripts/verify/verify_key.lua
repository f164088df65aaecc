-- Verify a key that is not derived from others: voter set, follows, session, idempotency key, what is written about a
-- group, sequence of a partition, one-time token, invitation.
-- requires: sessions, verify_prelude
-- from sessions: read_session(digest) -> (username, end, last use, bans) | nil, session_text(name, ends, used, words) -> text
-- from prelude: split(text) -> {word, ...}
-- from verify_prelude: name (what the key ends with: a number, a username or a group), report(where, found, expected, repair),
--   expect_expiry(key, instant), ONLY_DIGITS (a pattern), expect_member(index, member, value),
--   reply (the next cursor, then four values of each finding)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       logins: details of a user's sessions   sessions: a user's sessions, by when they end
--       invitation: an invitation to register   token: a one-time token
--       commented: number of a comment by its idempotency digest   posted: number of a post by its idempotency digest
--       place: what is written about a group   groups: names of groups that are listed or have articles
--       sequence: what the last number was made of
-- ARGV  1-6 for prelude.lua: 3 now (unix milliseconds)   7 "repair" to repair what is wrong, else ""
--       8 `name`, the last part of the key; "" if it has only a kind and a partition   9 kind of the key
--       10 for `sequence` the highest sequence of any post; for `posted` and `commented` the time to live
--       (milliseconds); for `following`, `followers` and `groupfollows` the whole key
-- Reply {"0", then of each finding: key with field or member, found value, expected value, "repaired" or ""}
local detail = ARGV[10] -- what it is depends on the kind
local CHECKS = {} -- functions by the kind of key

-- Expects a set of voters to be that of an article or a comment.
local function check_voters(key)
  if redis.call("EXISTS", KEY.article .. name, KEY.comment .. name) > 0 or redis.call("EXISTS", key) == 0 then return end
  report(key, "there", "nothing, as there is no such article or comment", function() redis.call("DEL", key) end)
end

-- Expects a value of a pattern. Its word number `expiry.word` is an instant (unix milliseconds): the key expires
-- `expiry.after` milliseconds after it.
local function check_string(key, pattern, expiry)
  local found = redis.call("GET", key)
  if not found then return end
  if not string.find(found, pattern) then return report(key, found, "usable") end
  expect_expiry(key, tonumber(split(found)[expiry.word]) + expiry.after)
end

local function check_owner(key)
  if redis.call("EXISTS", KEY.user .. name) == 0 then report(key, "there", "a user's") end
end

function CHECKS.voted() check_voters(KEY.voted .. name) end
function CHECKS.downvoted() check_voters(KEY.downvoted .. name) end
function CHECKS.session()
  local key = KEY.session .. name
  check_string(key, "^[%w_-]+ %d+[%w:=_ -]*$", {word = 2, after = 0}) -- NAME END LAST-USE BANS
  local username, ends, used, carried = read_session(name)
  local expected = username and redis.call("HGET", KEY.user .. string.lower(username), "bans") or ""
  if not username or carried == expected then return end
  report(key .. " bans", carried, expected, function()
    redis.call("SET", key, session_text(username, ends, used, expected), "KEEPTTL")
  end)
end

function CHECKS.logins()
  local key = KEY.logins .. name
  local details = redis.call("HGETALL", key)
  for i = 1, #details, 2 do
    local digest, found = details[i], details[i + 1]
    if not redis.call("ZSCORE", KEY.sessions .. name, digest) then
      report(key .. " " .. digest, found, nil, function() redis.call("HDEL", key, digest) end)
    elseif not string.find(found, "^%x+ %d+") then
      report(key .. " " .. digest, found, "usable")
    end
  end
end

function CHECKS.invitation() -- ENDS SLOT NAME CALL
  check_string(KEY.invitation .. name, "^%d+ %d+ ?[%w_-]* ?%x*$", {word = 1, after = 0})
end

function CHECKS.token() -- NAME PURPOSE END CALL DETAIL
  check_string(KEY.token .. name, "^[%w_-]+ %l+ %d+ %S+ ", {word = 3, after = 0})
end

local IDEMPOTENCY_VALUE = "^%d+ %d+ %x+$" -- number, time, digest of the input
function CHECKS.commented()
  check_string(KEY.commented .. name, IDEMPOTENCY_VALUE, {word = 2, after = tonumber(detail)})
end

function CHECKS.posted()
  check_string(KEY.posted .. name, IDEMPOTENCY_VALUE, {word = 2, after = tonumber(detail)})
end

function CHECKS.place()
  local key, instants = KEY.place .. name, {"created", "listed"}
  if redis.call("EXISTS", key) == 0 then return end
  for i, found in ipairs(redis.call("HMGET", key, unpack(instants))) do
    local is_usable = found and string.find(found, ONLY_DIGITS) or not found and instants[i] == "listed"
    if not is_usable then report(key .. " " .. instants[i], found, "a usable " .. instants[i]) end
  end
  if redis.call("HEXISTS", key, "listed") == 1 then expect_member(KEY.groups, name, 0) end
end

function CHECKS.following() check_owner(detail) end
function CHECKS.followers() check_owner(detail) end
function CHECKS.groupfollows() check_owner(detail) end

function CHECKS.sequence()
  local found = redis.call("GET", KEY.sequence)
  if (tonumber(found or 0) or -1) >= tonumber(detail) then return end
  report(KEY.sequence, found, "at least " .. detail, function() redis.call("SET", KEY.sequence, detail) end)
end

CHECKS[ARGV[9]]()
return reply
