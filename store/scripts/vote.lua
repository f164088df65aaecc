-- Set the vote of one voter while voting is open.
-- KEYS  see prelude.lua
-- ARGV  1-6 see prelude.lua   7 number   8 the vote: 1, 0 or -1
-- Reply {"voted" or, without any change, "same", voter, {field, value, ...}} | {"missing"}
--       | {"closed", when voting closed (unix milliseconds)}
--       | {"forbidden"} if the poster would withdraw or reverse the first vote | {"unauthenticated"}
local voter = actor()
if not voter then return {"unauthenticated"} end

local article = find_article(ARGV[7])
if not article then return {"missing"} end

-- The poster is a member as long as the set of voters exists. If it has expired, voting is closed, whatever the clock
-- says: a new set would lack all earlier voters.
local voted, downvoted = VOTED .. article.number, DOWNVOTED .. article.number
local closes = article.time + window
local has_voters, is_up = unpack(redis.call("SMISMEMBER", voted, article.poster, voter))
if now > closes or has_voters == 0 then return {"closed", string.format("%.0f", closes)} end

local vote = tonumber(ARGV[8])
local earlier = is_up == 1 and 1 or article.down > 0 and -redis.call("SISMEMBER", downvoted, voter) or 0
if vote == earlier then return {"same", voter, article.flat} end
if voter == article.poster then return {"forbidden"} end

local before = {time = article.time, up = article.up, down = article.down}
if earlier == 1 then redis.call("SREM", voted, voter) end
if earlier == -1 then redis.call("SREM", downvoted, voter) end
if vote == 1 then redis.call("SADD", voted, voter) end -- the poster is in it, so it expires
if vote == -1 then
  redis.call("SADD", downvoted, voter)
  expire_voters(DOWNVOTED, article)
end
article.up = article.up + math.max(vote, 0) - math.max(earlier, 0)
article.down = article.down - math.min(vote, 0) + math.min(earlier, 0)
local counts = {up = string.format("%.0f", article.up), down = string.format("%.0f", article.down)}
redis.call("HSET", ARTICLE .. article.number, "up", counts.up, "down", counts.down)
update_indexes(article, before)
add_karma(article, vote - earlier)
local id = append_log(
  "voted", voter, "article:" .. article.number, "value", ARGV[8], "up", counts.up, "down", counts.down
)
publish_event("voted", article, article.groups, id)

for i = 1, #article.flat, 2 do
  local count = counts[article.flat[i]]
  if count then article.flat[i + 1] = count end
end
return {"voted", voter, article.flat}
