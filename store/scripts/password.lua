-- Change a password, and end all other sessions of its user.
-- KEYS  1 user:{p}:NAME   2 sessions:{p}:NAME   3 session:{p}:, which a digest is appended to
-- ARGV  1 the password hash that was checked   2 the new hash   3 digest of the session that goes on
-- Reply {"done"} | {"changed"}
if redis.call("HGET", KEYS[1], "password") ~= ARGV[1] then return {"changed"} end
redis.call("HSET", KEYS[1], "password", ARGV[2])
for _, digest in ipairs(redis.call("ZRANGE", KEYS[2], 0, -1)) do
  if digest ~= ARGV[3] then
    redis.call("DEL", KEYS[3] .. digest)
    redis.call("ZREM", KEYS[2], digest)
  end
end
return {"done"}
