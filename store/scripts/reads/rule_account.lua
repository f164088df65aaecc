-- Read who acts, and what the rules of a site (they say when a text is held for moderators) need to know of an account.
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       archived: how many articles are only in the SQL database, and their greatest values
-- ARGV  1 digest of a session, or ""   2 username of who acts, if that is not by a session, else ""
--       3 now (unix milliseconds)   4 how many of the oldest articles, and of the oldest comments, to name
-- Reply {username, words of the roles, words of the bans, when the user joined (unix milliseconds), karma of articles,
--       karma of comments, number of archived articles and, if older comments are in no list, of as many as are asked for,
--       {ids of visible articles and comments}}, "" for what there is not
--       | {""} if the session has ended
local session, username, now = ARGV[1], ARGV[2], ARGV[3]
local name, ends = username, now
if session ~= "" then name, ends = string.match(redis.call("GET", KEY.session .. session) or "", "^(%S+) (%d+)") end
if not name or tonumber(now) > tonumber(ends) then return {""} end

local user, most = string.lower(name), tonumber(ARGV[4])
local reply = {name}
local found = redis.call("HMGET", KEY.user .. user, "roles", "bans", "joined", "karma", "comment_karma", "older_comments")
for i = 1, 5 do reply[i + 1] = found[i] or "" end
local has_unlisted = found[6] -- whether older comments are in no list
local archived = string.match(redis.call("HGET", KEY.archived, "user:" .. user) or "", "^%d+") or ""
reply[7] = has_unlisted and (tonumber(archived) or 0) + most or archived
reply[8] = {}
local function add_oldest(index, type)
  for _, member in ipairs(most > 0 and redis.call("ZRANGE", index .. user, 0, most - 1) or {}) do
    reply[8][#reply[8] + 1] = string.format("%s:%.0f", type, tonumber(member))
  end
end
add_oldest(KEY.timeline, "article")
add_oldest(KEY.comments, "comment")
return reply
