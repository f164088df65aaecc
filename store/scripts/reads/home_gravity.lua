-- Read the places of a page of a home by GRAVITY that are in some listings of one partition.
-- requires: gravity_search, home_places
-- KEYS  see home_places.lua; of each listing the indexes of GRAVITY and of VOTES
-- ARGV  1-5 see gravity_index.lua   6-10 see home_places.lua
-- Reply see home_places.lua
--
-- Each listing is read up to the last of the places that are wanted so far, so that most of them take few commands.
local position = from and {value = from, member = from_member} or nil
for i = 5, #KEYS, 2 do
  index, by_votes = KEYS[i], KEYS[i + 1]
  if redis.call("EXISTS", index) == 1 then
    local last = last_wanted()
    budget = math.huge
    local found = next_positions(position, wanted, nil, {}, last and last[1])
    local furthest
    for _, place in ipairs(found) do
      add_place(place.member, string.format("%.17g", place.value))
      local each = {place.value, place.member}
      if not furthest or comes_first(furthest, each) then furthest = each end
    end
    if #found >= wanted then
      stops[#stops + 1] = furthest
    elseif last then
      stops[#stops + 1] = {last[1], LAST}
    end
  end
end
return reply_of_places()
