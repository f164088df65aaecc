-- Restore the flags on an article or a comment, unless it is missing.
-- requires: flags
-- from flags: queue_flagged(number, is_visible)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       flags: flags on an article or comment, by user
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of the article or comment   8 from here on: fields and values of the hash
local number = ARGV[7]

-- The poster of a text, nil or false if there is no such text, and whether it is visible.
local function poster_and_visibility(key)
  local poster, state, away = unpack(redis.call("HMGET", key, "poster", "state", "away"))
  return poster, not state and not away
end

local exists, is_visible = poster_and_visibility(KEY.article .. number)
if not exists then exists, is_visible = poster_and_visibility(KEY.comment .. number) end
if not exists then return end
redis.call("HSET", KEY.flags .. number, unpack(ARGV, 8))
queue_flagged(number, is_visible)
