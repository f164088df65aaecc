-- Open a session for a user, if the password hash is still the one that was verified. If the user has too many
-- sessions, the least recently used ones end.
-- requires: log_entry, session_lists
-- from log_entry: log_entry(log, events, at, kind, actor, subject, ...) -> entry id
-- from sessions: read_session(digest) -> (username, end, last use, bans) | nil
-- from session_lists: write_session(digest, name, ends, used, words, details, at), end_session(lower_name, digest)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       closed: set while the partition takes no writes   sessions: a user's sessions, by when they end
-- ARGV  1 the password hash that was verified, or ""   2 username   3 digest of the session   4 now (unix milliseconds)
--       5 when the session ends and 6 when it was used last (unix milliseconds), or ""   7 its id, when it was opened
--       (unix milliseconds) and its agent, separated by spaces, or ""   8 how many sessions a user may have
--       9 the words of the user's bans, if they are not those of the user's hash, which may not be restored yet
-- Reply {"opened"} | {"changed"} if the stored hash is no longer the verified one, or the user is being deleted
local verified_hash, username, now = ARGV[1], ARGV[2], ARGV[4]
local lower_name, digest, most = string.lower(username), ARGV[3], tonumber(ARGV[8])
local ends, last_used, details = ARGV[5], ARGV[6], ARGV[7]
if verified_hash ~= "" and redis.call("HGET", KEY.user .. lower_name, "password") ~= verified_hash then return {"changed"} end
if redis.call("HEXISTS", KEY.user .. lower_name, "left") == 1 then return {"changed"} end
if redis.call("EXISTS", KEY.closed) == 1 then return redis.error_reply("CLOSED to writes") end
local bans = ARGV[9] or redis.call("HGET", KEY.user .. lower_name, "bans") or ""
write_session(digest, username, ends, last_used, bans, details, now)

if redis.call("ZCARD", KEY.sessions .. lower_name) > most then
  local others = {}
  for _, other in ipairs(redis.call("ZRANGE", KEY.sessions .. lower_name, 0, -1)) do
    local _, _, used = read_session(other)
    if other ~= digest then others[#others + 1] = {digest = other, used = tonumber(used) or 0} end
  end
  table.sort(others, function(one, other)
    return one.used < other.used or one.used == other.used and one.digest < other.digest
  end)
  for i = 1, #others + 1 - most do end_session(lower_name, others[i].digest) end
  log_entry(KEY.log, KEY.events, now, "session_ended", username, "user:" .. lower_name)
end
return {"opened"}
