-- Numbers of articles, comments and actions of moderators.
-- requires: prelude, slots
-- from prelude: now (unix milliseconds)
-- from slots: SLOTS (how many slots there are, as in store/keys.py)
-- KEY   keys of this partition (a share of the data) by kind
--       sequence: what the last number was made of

-- A number is SLOTS x a sequence + a slot (see slots.lua). Posts and actions have even sequences, twice the time in
-- milliseconds or more; imports have odd ones, so that an old time gives a number that no post has.
local MAX_SEQUENCE = 2 ^ 43 -- a number is less than 2 ^ 53, up to which Lua has exact integers

local function make_number(sequence, slot) --> text
  if sequence >= MAX_SEQUENCE then error({err = "ERR no number is left for this time"}) end
  return string.format("%.0f", sequence * SLOTS + slot)
end

-- The number of a new article, comment or action: higher than that of any earlier one of this partition, except imports.
local function next_number(slot) --> text
  local last = tonumber(redis.call("GET", KEY.sequence) or 0)
  local sequence = math.max(2 * now, last + 2 - last % 2) -- the next even one, at least
  local number = make_number(sequence, slot)
  redis.call("SET", KEY.sequence, string.format("%.0f", sequence))
  return number
end
