-- Find a pin of a thread (all comments of an article) that was made a short time ago, or make one. Further pages then have
-- the order that the comments had when the pin was made, whatever votes move since.
-- KEYS  of partition p: 1 article:{p}:N   2 pins:{p}:N, its pins (ORDER:MOVES) by when they were made
--       3 moves:{p}, how many votes have moved comments   4 sequence:{p}, from which the last number was made
-- ARGV  1 order: best, votes, controversial   2 now (unix milliseconds)   3 age up to which a pin is found,
--       and 4 lifetime of a pin (both in milliseconds)   5 "new" if a pin may be made, else ""
-- Reply {"known" or "pinned", number of the last move (a vote that moves a comment) before the pin, sequence of the last
--       number given} | {"missing"} if there is no such article | {"refused"} if a pin would have to be made and must not
local order, now, shared_for, lifetime = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
if redis.call("EXISTS", KEYS[1]) == 0 then return {"missing"} end

local sequence, last_move = redis.call("GET", KEYS[4]) or "0", redis.call("GET", KEYS[3]) or "0"
local made = redis.call("ZRANGE", KEYS[2], 0, -1, "WITHSCORES")
local moves, made_at
for i = 1, #made, 2 do -- the newest one of the order is the last one
  local of_order, number = string.match(made[i], "(%l+):(%d+)")
  if of_order == order then moves, made_at = number, tonumber(made[i + 1]) end
end
if moves and made_at > now - shared_for then return {"known", moves, sequence} end

local is_known = moves == last_move -- as nothing has moved since, it is as good as a new one
if not is_known and ARGV[5] ~= "new" then return {"refused"} end
redis.call("ZADD", KEYS[2], now, order .. ":" .. last_move) -- first: a full store refuses only the first write of a script
redis.call("ZREMRANGEBYSCORE", KEYS[2], "-inf", now - lifetime)
redis.call("PEXPIRE", KEYS[2], lifetime)
return {is_known and "known" or "pinned", last_move, sequence}
