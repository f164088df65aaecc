-- Move the mark of the newest article seen in the actor's feed forward, never back.
-- requires: log_entry, prelude
-- from log_entry: log_entry(log, events, at, kind, actor, subject, ...) -> entry id
-- from prelude: actor() -> username | false
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 value (unix milliseconds) and 8 member of the newest position seen
--       9 latest time that a mark can have (unix milliseconds): a stored mark beyond it is replaced
-- Reply {"marked", username} | {"unauthenticated"}
local value, member = tonumber(ARGV[7]), ARGV[8]
local viewer = actor()
if not viewer then return {"unauthenticated"} end

local account = KEY.user .. string.lower(viewer)
local stored_text, stored_member = string.match(redis.call("HGET", account, "seen") or "", "^(%S+) (%d+)$")
local stored_value = tonumber(stored_text)
local is_usable = stored_value and stored_value >= 0 and stored_value <= tonumber(ARGV[9])
-- members of equal values are in the order of texts, as in a sorted set
if not is_usable or value > stored_value or value == stored_value and member > stored_member then
  local mark = ARGV[7] .. " " .. member
  redis.call("HSET", account, "seen", mark)
  log_entry(KEY.log, KEY.events, ARGV[3], "seen", viewer, "user:" .. string.lower(viewer), "seen", mark)
end
return {"marked", viewer}
