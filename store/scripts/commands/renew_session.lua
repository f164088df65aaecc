-- Extend a session that has not ended.
-- requires: session_lists
-- from sessions: read_session(digest) -> (username, end, last use, bans) | nil,
--   session_details(lower_name, digest) -> (id, logged in at, agent)
-- from session_lists: write_session(digest, name, ends, used, words, details, at)
-- KEY   keys of this partition (a share of the data) by kind
--       closed: set while the partition takes no writes
-- ARGV  1 digest of the session   2 now (unix milliseconds)   3 for how long (milliseconds)
--       4 how long after log-in a session lasts at most (milliseconds)   5 an id, if it has none yet
-- Reply {"renewed", its new end (unix milliseconds)} | {"missing"}
local digest = ARGV[1]
if redis.call("EXISTS", KEY.closed) == 1 then return redis.error_reply("CLOSED to writes") end
local now, lifetime, most = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local name, known_end, _, words = read_session(digest)
if not name or now > tonumber(known_end) then return {"missing"} end
local id, opened, agent = session_details(string.lower(name), digest)
if opened == "" then -- of an earlier version: it counts as opened one lifetime before its end
  id, opened = ARGV[5], string.format("%.0f", math.max(0, math.min(now, tonumber(known_end) - lifetime)))
end
local ends = string.format("%.0f", math.min(now + lifetime, tonumber(opened) + most))
local details = id .. " " .. opened .. (agent ~= "" and " " .. agent or "")
local used_at = ARGV[2]
write_session(digest, name, ends, used_at, words, details, used_at)
return {"renewed", ends}
