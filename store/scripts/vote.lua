-- Set one voter's vote while voting is open.
-- ARGV  7 number   8 the vote: 1, 0 or -1
-- Reply {"voted" or "same", voter, {field, value, ...}} | {"missing"} | {"closed", closed at (unix milliseconds)}
--       | {"forbidden"} when the poster would take back or turn their own first vote | {"unauthenticated"}
local voter = actor()
if not voter then return {"unauthenticated"} end

local article = find(ARGV[7])
if not article then return {"missing"} end

-- The poster is in the set as long as it lives. Without the set the voters are forgotten, whatever the clock says, and
-- a vote must not found a new one.
local voted, downvoted = VOTED .. article.number, DOWNVOTED .. article.number
local closes = article.time + window
if now > closes or redis.call("EXISTS", voted) == 0 then return {"closed", string.format("%.0f", closes)} end

local vote = tonumber(ARGV[8])
local before = redis.call("SISMEMBER", voted, voter) - redis.call("SISMEMBER", downvoted, voter)
if vote == before then return {"same", voter, stored(article.number)} end
if voter == article.poster then return {"forbidden"} end

local was = {time = article.time, up = article.up, down = article.down}

if before == 1 then
  redis.call("SREM", voted, voter)
  article.up = article.up - 1
elseif before == -1 then
  redis.call("SREM", downvoted, voter)
  article.down = article.down - 1
end
if vote == 1 then
  remember(VOTED, article, {voter})
  article.up = article.up + 1
elseif vote == -1 then
  remember(DOWNVOTED, article, {voter})
  article.down = article.down + 1
end
redis.call("HSET", ARTICLE .. article.number, "up", article.up, "down", article.down)
rank(article, MOVING, was)
credit(article, vote - before)
tell("voted", article, article.groups)
return {"voted", voter, stored(article.number)}
