-- Restore a member of a user's list, such as a followee, unless the record that the member names does not exist.
-- KEYS  1 the record that the member names   2 the list   3 the reverse list (the owners of lists with this member), if
--       the kind has one
-- ARGV  1 time of its addition (unix milliseconds)   2 member   3 owner of the list
local added_at, member, owner = ARGV[1], ARGV[2], ARGV[3]
if redis.call("EXISTS", KEYS[1]) == 0 then return end
redis.call("ZADD", KEYS[2], added_at, member)
if KEYS[3] then redis.call("ZADD", KEYS[3], added_at, owner) end
