-- Mails that wait: `mailing` has RECIPIENT:WHAT of each by when it is due, `mail` what is known of it. RECIPIENT is a
-- username in lower case, or the SHA-1 of an address. WHAT is one of confirm, reset, identity (a link that stands in for
-- a password), replies, change, removal.
-- Instants are in unix milliseconds. `keys` are {mailbox = ..., mailing = ..., mail = ...} of the partition.
local mails = {} -- one variable: a script has at most 200

-- When a notification is mailed: after two minutes, or at seven in the morning, UTC; weekly on Mondays.
function mails.due_at(often, at) --> unix milliseconds
  local MINUTE, DAY = 60000, 86400000
  local WEEK, morning = 7 * DAY, 7 * 60 * MINUTE
  local monday = 4 * DAY + morning -- the first one: the first day was a Thursday
  if often == "daily" then return math.floor((at - morning) / DAY) * DAY + DAY + morning end
  if often == "weekly" then return math.floor((at - monday) / WEEK) * WEEK + WEEK + monday end
  return at + 2 * MINUTE
end

-- Queues a mail, unless it waits already.
function mails.queue(keys, recipient, what, at)
  redis.call("ZADD", keys.mailing, "NX", string.format("%.0f", tonumber(at)), recipient .. ":" .. what)
end

-- Adds a notification to the next mail of replies to a user, if the user wants such mails.
function mails.note(keys, recipient, member, at)
  local MOST = 1000 -- as many as an inbox has
  local often, email = unpack(redis.call("HMGET", keys.mailbox .. recipient, "replies", "email"))
  if not often or not email then return end
  local noted = keys.mail .. recipient .. ":replies"
  if redis.call("HLEN", noted) >= MOST then return end
  redis.call("HSET", noted, member, at)
  mails.queue(keys, recipient, "replies", mails.due_at(often, tonumber(at)))
end
