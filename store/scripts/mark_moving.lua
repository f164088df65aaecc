-- Mark articles as moving, so that their places in the database do not count, or remove the marks.
-- KEYS  1 moving:{p}   2 lease:{p}:archiver
-- ARGV  1 token of the caller's lease   2 "add" or "remove"   then numbers
-- Reply {"marked"} | {"overtaken"} if another process has the lease
if redis.call("GET", KEYS[2]) ~= ARGV[1] then return {"overtaken"} end
redis.call(ARGV[2] == "add" and "SADD" or "SREM", KEYS[1], unpack(ARGV, 3))
return {"marked"}
