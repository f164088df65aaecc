-- Read who acts, and the roles and bans of that user as they are stored.
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
-- ARGV  1 digest of a session, or ""   2 username of who acts, if that is not by a session, else ""
--       3 now (unix milliseconds)
-- Reply {username, words of the roles, words of the bans}; {"", "", ""} if the session has ended, or the user
--       is being deleted
local session, username, now = ARGV[1], ARGV[2], ARGV[3]
local name, ends = username, now
if session ~= "" then name, ends = string.match(redis.call("GET", KEY.session .. session) or "", "^(%S+) (%d+)") end
if not name or tonumber(now) > tonumber(ends) then return {"", "", ""} end
local roles, bans, is_leaving = unpack(redis.call("HMGET", KEY.user .. string.lower(name), "roles", "bans", "left"))
if is_leaving then return {"", "", ""} end
return {name, roles or "", bans or ""}
