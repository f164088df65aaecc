-- Follow a user or a group, or stop following one. If the followee's partition is another one, the script notes in
-- `effects` that the new entry has an effect there; `apply_effect.lua` then changes the followers.
-- requires: log_entry
-- from log_entry: log_entry(log, events, at, kind, actor, subject, ...) -> entry id
-- replies kept in case the call is sent again, by status: changed
-- KEYS  1 what the follower follows: following:{p}:FOLLOWER or groupfollows:{p}:FOLLOWER
--       2 closed:{p}, set while the partition takes no writes   3 log:{p}   4 channel events:{p}
--       5 effects:{p}, the last entry with an effect in each other partition
--       6 blocked:{p}:FOLLOWER, of whom no user may be followed
--       7 followers:{p}:FOLLOWEE or groupfollowers:{p}:FOLLOWEE, if the followee is in the same partition
-- ARGV  1 begin or end   2 follower   3 followee   4 now (unix milliseconds)   5 partition of the followee
--       6 kind of the entry in the log   7 its subject   8 its field for the followee   9 how many anybody may follow
-- Reply {"changed" | "same", id of the last entry with an effect in the followee's partition, id of the one before};
--       an id is "" if there is none, or if the partition is the same | {"full", "", ""}: as many are followed
--       | {"blocked", "", ""}: the follower blocks the user
if redis.call("EXISTS", KEYS[2]) == 1 then return redis.error_reply("CLOSED to writes") end

local what, follower, followee, now, target, kind, subject, field, most = unpack(ARGV)
local is_local = KEYS[7] ~= nil

local before = not is_local and redis.call("HGET", KEYS[5], target) or ""
local changed
if what == "begin" then
  local is_user = kind == "followed"
  if is_user and redis.call("ZSCORE", KEYS[6], followee) then return {"blocked", "", ""} end
  local is_known = redis.call("ZSCORE", KEYS[1], followee)
  if not is_known and redis.call("ZCARD", KEYS[1]) >= tonumber(most) then return {"full", "", ""} end
  changed = redis.call("ZADD", KEYS[1], "NX", now, followee)
else
  changed = redis.call("ZREM", KEYS[1], followee)
end
if changed == 0 then return {"same", before, ""} end

local since = what == "begin" and {"since", now} or {}
local id = log_entry(KEYS[3], KEYS[4], now, kind, follower, subject, field, followee, unpack(since))
if is_local and what == "begin" then redis.call("ZADD", KEYS[7], now, follower) end
if is_local and what == "end" then redis.call("ZREM", KEYS[7], follower) end
if is_local then return {"changed", "", ""} end

redis.call("HSET", KEYS[5], target, id)
return {"changed", id, before}
