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
local is_kept, is_up = unpack(redis.call("SMISMEMBER", voted, article.poster, voter))
if now > closes or is_kept == 0 then return {"closed", string.format("%.0f", closes)} end

local vote = tonumber(ARGV[8])
local before = is_up == 1 and 1 or article.down > 0 and -redis.call("SISMEMBER", downvoted, voter) or 0
if vote == before then return {"same", voter, article.stored} end
if voter == article.poster then return {"forbidden"} end

local was = {time = article.time, up = article.up, down = article.down}
if before == 1 then redis.call("SREM", voted, voter) end
if before == -1 then redis.call("SREM", downvoted, voter) end
if vote == 1 then redis.call("SADD", voted, voter) end -- where the poster is, and so an expiry
if vote == -1 then
  redis.call("SADD", downvoted, voter)
  expire(DOWNVOTED, article)
end
article.up = article.up + math.max(vote, 0) - math.max(before, 0)
article.down = article.down - math.min(vote, 0) + math.min(before, 0)
redis.call("HSET", ARTICLE .. article.number, "up", article.up, "down", article.down)
rank(article, was)
credit(article, vote - before)
tell("voted", article, article.groups)

for i = 1, #article.stored, 2 do
  local field = article.stored[i]
  if field == "up" or field == "down" then article.stored[i + 1] = string.format("%.0f", article[field]) end
end
return {"voted", voter, article.stored}
