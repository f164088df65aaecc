-- Delete one's own article with everything that speaks of it; its number is never given out again.
-- ARGV  7 number
-- Reply {"deleted"} | {"missing"} | {"forbidden"} | {"unauthenticated"}
local deleter = actor()
if not deleter then return {"unauthenticated"} end

local article = find(ARGV[7])
if not article then return {"missing"} end
if article.poster ~= deleter then return {"forbidden"} end

for _, order in ipairs(ORDERS) do redis.call("ZREM", INDEX[order], article.member) end
redis.call("ZREM", GOOD, article.member)
for _, group in ipairs(article.groups) do leave(article, group) end
retract(article)
credit(article, 1 - (article.up - article.down))
redis.call("DEL", ARTICLE .. article.number, VOTED .. article.number, DOWNVOTED .. article.number)
tell("deleted", article, article.groups)
return {"deleted"}
