-- Find users who have more articles in Redis than a limit, some users at a time.
-- KEYS  of partition p: 1 posters:{p}   2 timeline:{p}: (a username in lower case is appended)
-- ARGV  1 ZSCAN cursor   2 limit
-- Reply {next cursor, "0" at the end; username in lower case, number of articles beyond the limit, ...}
local AT_ONCE = 500 -- users, about, as the script blocks the server
local cursor, found = unpack(redis.call("ZSCAN", KEYS[1], ARGV[1], "COUNT", AT_ONCE))
local limit, reply = tonumber(ARGV[2]), {cursor}
for i = 1, #found, 2 do
  local name = string.lower(found[i])
  local count = redis.call("ZCARD", KEYS[2] .. name)
  if count > limit then
    reply[#reply + 1] = name
    reply[#reply + 1] = count - limit
  end
end
return reply
