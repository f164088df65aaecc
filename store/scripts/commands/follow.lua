-- Follow a user, or stop following one. If the followee's partition is another one, the script notes in `effects` that
-- the new entry has an effect there; `apply_effect.lua` then changes the followers.
-- requires: log_entry
-- KEYS  1 following:{p}:FOLLOWER   2 closed:{p}   3 log:{p}   4 channel events:{p}   5 effects:{p}
--       6 followers:{p}:FOLLOWEE, if the followee is in the same partition
-- ARGV  1 kind of the entry: followed or unfollowed   2 follower   3 followee   4 now (unix milliseconds)
--       5 partition of the followee
-- Reply {"changed" | "same", id of the last entry with an effect in the followee's partition, id of the one before};
--       an id is "" if there is none, or if the partition is the same
if redis.call("EXISTS", KEYS[2]) == 1 then return redis.error_reply("CLOSED to writes") end

local kind, follower, followee, now, target = unpack(ARGV)
local is_local = KEYS[6] ~= nil

local before = not is_local and redis.call("HGET", KEYS[5], target) or ""
local changed
if kind == "followed" then
  changed = redis.call("ZADD", KEYS[1], "NX", now, followee)
else
  changed = redis.call("ZREM", KEYS[1], followee)
end
if changed == 0 then return {"same", before, ""} end

local since = kind == "followed" and {"since", now} or {}
local subject = "user:" .. string.lower(followee)
local id = log_entry(KEYS[3], KEYS[4], now, kind, follower, subject, "followee", followee, unpack(since))
if is_local and kind == "followed" then redis.call("ZADD", KEYS[6], now, follower) end
if is_local and kind == "unfollowed" then redis.call("ZREM", KEYS[6], follower) end
if is_local then return {"changed", "", ""} end

redis.call("HSET", KEYS[5], target, id)
return {"changed", id, before}
