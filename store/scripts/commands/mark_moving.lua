-- Mark articles as moving between Redis and the SQL database, so that reads ignore what the database has of them, or
-- remove the marks. Each call that marks articles increases `marks` in the hash `archived`, also if they are marked
-- already: by it reads notice that the database may change.
-- flags: allow-oom
-- KEYS  of partition p: 1 moving:{p}, the marked articles   2 lease:{p}:archiver (whose token one process has)
--       3 archived:{p}, a hash of what is in the database only
-- ARGV  1 token of the caller's lease   2 "add" or "remove"   then numbers
-- Reply {"marked"} | {"overtaken"} if another process has the lease
if redis.call("GET", KEYS[2]) ~= ARGV[1] then return {"overtaken"} end
local is_mark = ARGV[2] == "add"
redis.call(is_mark and "SADD" or "SREM", KEYS[1], unpack(ARGV, 3))
if is_mark then redis.call("HINCRBY", KEYS[3], "marks", 1) end
return {"marked"}
