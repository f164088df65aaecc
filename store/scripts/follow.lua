-- Add or remove one side of a follow. The side of the follower appends the change to the log.
-- KEYS  1 followers:{p}:NAME or following:{p}:NAME   2 closed:{p}
--       3 log:{p} and 4 channel events:{p}, both for following:{p}:NAME only
-- ARGV  1 username of the other side   2 when the follow began (unix milliseconds), or "" to remove it
--       3 username of the follower   4 now (unix milliseconds), both for following:{p}:NAME only
-- Reply {"changed"} | {"same"}
if redis.call("EXISTS", KEYS[2]) == 1 then return redis.error_reply("CLOSED to writes") end

local other, since, changed = ARGV[1], ARGV[2], 0
if since == "" then
  changed = redis.call("ZREM", KEYS[1], other)
else
  changed = redis.call("ZADD", KEYS[1], "NX", since, other)
end
if changed == 1 and KEYS[3] then
  local kind = since == "" and "unfollowed" or "followed"
  log_entry(
    KEYS[3], KEYS[4], ARGV[4], kind, ARGV[3], "user:" .. string.lower(other), "followee", other,
    unpack(since ~= "" and {"since", since} or {})
  )
end
return {changed == 1 and "changed" or "same"}
