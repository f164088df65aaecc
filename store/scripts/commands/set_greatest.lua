-- Set the greatest value that an archived article has in a listing: pages ask the database from this value down.
-- flags: allow-oom
-- KEYS  of partition p: 1 archived:{p}
-- ARGV  1 `serial` of the hash, when the caller has read the places, or "": it counts articles that left or came back
--       2 listing, such as group:NAME:hot   3 value
-- Reply 1, or 0 if articles have left Redis or came back since
if (redis.call("HGET", KEYS[1], "serial") or "") ~= ARGV[1] then return 0 end
redis.call("HSET", KEYS[1], "top:" .. ARGV[2], ARGV[3])
return 1
