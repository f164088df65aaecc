-- Of some articles and comments, count those that moderators have approved, or that were visible for a time without a flag.
-- A site may hold the texts of an account until there are enough of these.
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       flags: flags on an article or comment, by user   actions: actions of moderators, by time
-- ARGV  1 instant: a text that nobody has approved was posted until then, to count (unix milliseconds)
--       2 from here on: ids of articles and comments of this partition
-- Reply how many of them are visible and approved, or old enough and without a flag that stands
local function is_flagged(number)
  for _, flag in ipairs(redis.call("HVALS", KEY.flags .. number)) do -- AT REASON NAME [+]CLEARED_BY ...
    if string.match(flag, "^%d+ %S+ %S+ %+?(%S+)") == "-" then return true end
  end
  return false
end

-- Whether an approval of an article or a comment stands. What was removed after one is not visible.
local function is_approved(subject)
  for _, member in ipairs(redis.call("ZRANGE", KEY.actions .. subject, 0, -1, "REV")) do
    local action = KEY.action .. string.format("%.0f", tonumber(member))
    local kind, reverted_by = unpack(redis.call("HMGET", action, "kind", "reverted_by"))
    if kind == "approve" and not reverted_by then return true end
  end
  return false
end

local function has_stood(subject)
  local type, number = string.match(subject, "^(%l+):(%d+)$")
  local time, state = unpack(redis.call("HMGET", (type == "article" and KEY.article or KEY.comment) .. number, "time", "state"))
  if not time or state then return false end
  if tonumber(time) <= tonumber(ARGV[1]) and not is_flagged(number) then return true end
  return is_approved(subject)
end

local count = 0
for i = 2, #ARGV do
  if has_stood(ARGV[i]) then count = count + 1 end
end
return count
