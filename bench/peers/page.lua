-- Read a page as its viewer sees it, in one call: for the peer `scripted`, a server that the project is compared with.
-- KEYS  1 the index   2 session:{p}:DIGEST, where p is the partition, a share of the data
-- ARGV  1 values are below this, "+inf" or "(VALUE"   2 articles of a page   3 now (unix milliseconds)
--       4, 5, 6 article:{p}:, voted:{p}: and downvoted:{p}:, to which numbers are appended
-- Reply as JSON, which Node reads faster than arrays: whether more follow, whether somebody is logged in (1 or 0), and
--       eleven values of each article: member, value, title, link, up, down, poster, time, groups, whether the viewer
--       is among voted, and among downvoted (1 or 0)
local places = redis.call("ZRANGE", KEYS[1], ARGV[1], "-inf", "BYSCORE", "REV", "LIMIT", 0, ARGV[2] + 1, "WITHSCORES")
local session, viewer = redis.call("GET", KEYS[2]), nil
if session then
  local name, ends = string.match(session, "(%S+) (%S+)") -- "USERNAME END ...", in unix milliseconds
  if tonumber(ends) >= tonumber(ARGV[3]) then viewer = name end
end
local shown = math.min(#places, ARGV[2] * 2)
local reply = {#places > shown and 1 or 0, viewer and 1 or 0}
for place = 1, shown, 2 do
  local number = string.match(places[place], "^0*(%d+)$") -- members begin with zeros, keys do not
  local read = redis.call("HMGET", ARGV[4] .. number, "title", "link", "up", "down", "poster", "time", "groups")
  local filled = #reply
  reply[filled + 1], reply[filled + 2] = places[place], places[place + 1]
  for field = 1, 7 do reply[filled + 2 + field] = read[field] end
  reply[filled + 10] = viewer and redis.call("SISMEMBER", ARGV[5] .. number, viewer) or 0
  reply[filled + 11] = viewer and redis.call("SISMEMBER", ARGV[6] .. number, viewer) or 0
end
return cjson.encode(reply)
