-- Change a password, and end all other sessions of its user.
-- requires: log_entry
-- KEYS  1 user:{p}:NAME   2 sessions:{p}:NAME   3 session:{p}: (a digest is appended)   4 closed:{p}
--       5 log:{p}   6 channel events:{p}
-- ARGV  1 the password hash that was verified   2 the new hash   3 digest of the session to keep
--       4 username   5 now (unix milliseconds)
-- Reply {"done"} | {"changed"} if the stored hash is no longer the verified one. Fails with BANNED if a ban of the user
-- from the site stands
--
-- If the reply is lost, the script is sent again and finds the new hash, which is salted and therefore unique.
local known, bans = unpack(redis.call("HMGET", KEYS[1], "password", "bans"))
if known == ARGV[2] then return {"done"} end
if known ~= ARGV[1] then return {"changed"} end
if redis.call("EXISTS", KEYS[4]) == 1 then return redis.error_reply("CLOSED to writes") end
local banned_until = string.match(" " .. (bans or ""), " site=(%d+)")
if banned_until and (banned_until == "0" or tonumber(ARGV[5]) < tonumber(banned_until)) then
  return redis.error_reply("BANNED " .. banned_until .. " -")
end
redis.call("HSET", KEYS[1], "password", ARGV[2])
for _, digest in ipairs(redis.call("ZRANGE", KEYS[2], 0, -1)) do
  if digest ~= ARGV[3] then
    redis.call("DEL", KEYS[3] .. digest)
    redis.call("ZREM", KEYS[2], digest)
  end
end
log_entry(KEYS[5], KEYS[6], ARGV[5], "password_changed", ARGV[4], "user:" .. string.lower(ARGV[4]))
return {"done"}
