-- One step of reading the positions of one partition by VOTES, among the articles posted since an instant. A search
-- that takes long is done in several steps, so that none blocks the server.
-- requires: since_search
-- from since_search: by_votes (the index of VOTES of the same listing), by_time (the index of TIME of the same listing),
--   since (when the oldest articles that count were posted (unix milliseconds)), is_beyond(page, value, member),
--   MAX_SORTED_AT_ONCE (articles of a listing that are read by time and sorted, without the index of GRAVITY),
--   read_sorted(page, members), read(page)
-- KEYS  1 index of GRAVITY, which has the articles of similar votes together, by time (since_search.lua)
--       2 index of VOTES   3 index of TIME, all of the same listing
-- ARGV  1 the instant (unix milliseconds)   2 "down" or "up": direction of the page   3 how many positions are wanted
--       4 positions to pass over before these   5 about how many articles this step may read (see since_search.lua)
--       6 value and 7 member of the position from which to read on, which may be missing from the listing, or ""
-- Reply {value and member of the position at which this step stopped, or "" and "" if the page is whole,
--        number of positions that are still to be passed over, number of articles of the listing,
--        1 if the article of ARGV 7 is in the listing, but not further in the direction of the page than ARGV 6, else 0,
--        member, value, ... of each position found, in the direction of the page}
local function is_behind(page, member)
  local votes, time = redis.call("ZSCORE", by_votes, member), redis.call("ZSCORE", by_time, member)
  return votes and time and tonumber(time) >= since and not is_beyond(page, tonumber(votes), member)
end

local page = {
  down = ARGV[2] == "down", wanted = tonumber(ARGV[3]), skip = tonumber(ARGV[4]), found = {},
  value = tonumber(ARGV[6]), member = ARGV[7],
}
local total = redis.call("ZCOUNT", by_time, since, "+inf")
if total == 0 then return {"", "", 0, 0, 0} end

local behind = page.value and is_behind(page, page.member) and 1 or 0
local is_stopped = false
-- Both functions add the positions that they find to `page.found`, and count `page.skip` down. `read` returns true if it
-- has stopped before the page is whole, at `page.value` and `page.member`.
if total <= MAX_SORTED_AT_ONCE then
  read_sorted(page, redis.call("ZRANGE", by_time, since, "+inf", "BYSCORE"))
else
  is_stopped = read(page)
end
local reply = {"", "", page.skip, total, behind}
if is_stopped then reply[1], reply[2] = string.format("%.17g", page.value), page.member end
for i, found in ipairs(page.found) do reply[5 + i] = found end
return reply
