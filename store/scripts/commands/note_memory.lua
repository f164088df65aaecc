-- Keep a sample of the memory that the server uses, one for each hour, and say whether a warning is due: one in an
-- hour, of all processes.
-- flags: allow-oom
-- KEYS  of partition p: 1 memory:{p}
-- ARGV  1 the hour, as hours of unix time   2 bytes used   3 "1" if that is enough for a warning, else ""
--       4 for how many hours samples are kept
-- Reply 1 if a warning is due, else 0
local hour_field = ARGV[1]
local hour, kept_hours = tonumber(hour_field), tonumber(ARGV[4])
if redis.call("HSETNX", KEYS[1], hour_field, ARGV[2]) == 1 then
  for _, field in ipairs(redis.call("HKEYS", KEYS[1])) do
    if (tonumber(field) or hour) < hour - kept_hours then redis.call("HDEL", KEYS[1], field) end
  end
  redis.call("EXPIRE", KEYS[1], kept_hours * 3600)
end
if ARGV[3] == "" or redis.call("HGET", KEYS[1], "warned") == hour_field then return 0 end
redis.call("HSET", KEYS[1], "warned", hour_field)
return 1
