-- Add or remove one side of a follow.
-- KEYS  1 followers:{p}:NAME or following:{p}:NAME   2 closed:{p}
-- ARGV  1 username of the other side   2 when the follow began (unix milliseconds), or "" to remove it
-- Reply {"changed"} | {"same"}
if redis.call("EXISTS", KEYS[2]) == 1 then return redis.error_reply("CLOSED to writes") end

local changed
if ARGV[2] == "" then
  changed = redis.call("ZREM", KEYS[1], ARGV[1])
else
  changed = redis.call("ZADD", KEYS[1], "NX", ARGV[2], ARGV[1])
end
return {changed == 1 and "changed" or "same"}
