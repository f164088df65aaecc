-- Sessions of users. A session is kept under the digest of its token. The key `session` has NAME END LAST-USE BANS,
-- where BANS are words such as site=UNTIL; earlier versions wrote no LAST-USE. The user's hash `logins` has more of it,
-- by digest: ID OPENED AGENT, where AGENT is the program. Instants are in unix milliseconds.
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       logins: details of a user's sessions

-- The username, the end, the last use ("" if it is not known) and the words of bans of a session; nil if there is none.
local function read_session(digest) --> (username, end, last use, bans) | nil
  local name, ends, rest = string.match(redis.call("GET", KEY.session .. digest) or "", "^(%S+) (%d+) ?(.*)$")
  if not name then return nil end
  local used, words = string.match(rest, "^(%d+) ?(.*)$")
  return name, ends, used or "", words or rest
end

-- The user who acts: the one with a verified name or, if that is "", the one of a session; nil if that has ended at `now`.
local function acting_user(name, digest, now) --> username | nil
  if name ~= "" then return name end
  local found, ends = read_session(digest)
  return found and tonumber(now) <= tonumber(ends) and found or nil
end

-- The value of the key `session`.
local function session_text(name, ends, used, words) --> text
  return name .. " " .. ends .. (used ~= "" and " " .. used or "") .. (words ~= "" and " " .. words or "")
end

-- The id, the instant of log-in and the agent of a session; "" for the last two if they are not known.
local function session_details(lower_name, digest) --> (id, logged in at, agent)
  local id, opened, agent = string.match(redis.call("HGET", KEY.logins .. lower_name, digest) or "", "^(%x+) (%d+) ?(.*)$")
  if not id then return redis.sha1hex(digest), "", "" end
  return id, opened, agent
end
