-- Read the first places, among the newest articles of some listings of one partition, of a page of a home by GRAVITY, or by
-- VOTES since an instant: what is to be found on the page does not come after the last of them.
-- requires: gravity_index, home_places
-- KEYS  see home_places.lua; of each listing the indexes of GRAVITY, VOTES and TIME
-- ARGV  1-5 see gravity_index.lua; or 1 the instant (unix milliseconds), 2-5 ""   6-10 see home_places.lua
-- Reply see home_places.lua
local NEWEST = 8 -- articles of a listing that are read
local since = ARGV[2] == "" and ARGV[1] or "-inf"

for i = 5, #KEYS, 3 do
  by_votes = KEYS[i + 1]
  local flat = redis.call("ZRANGE", KEYS[i + 2], "+inf", since, "BYSCORE", "REV", "LIMIT", 0, NEWEST, "WITHSCORES")
  local members, times = {}, {}
  for j = 1, #flat, 2 do members[#members + 1], times[#times + 1] = flat[j], tonumber(flat[j + 1]) end
  for j, votes in ipairs(members[1] and redis.call("ZMSCORE", by_votes, unpack(members)) or {}) do
    local value = votes and (ARGV[2] == "" and tonumber(votes) or value_of(votes - 1, times[j]))
    if value then add_beyond(members[j], value) end
  end
end
return reply_of_places()
