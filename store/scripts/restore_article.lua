-- Write an article of a copy, whose voters are there already, with all that is derived from it. Twice is harmless.
-- ARGV  7 number   8 ... field, value, ...
-- Reply {"restored"} | {"known"}
local number = ARGV[7]
local is_known = redis.call("EXISTS", ARTICLE .. number) == 1
if not is_known then redis.call("HSET", ARTICLE .. number, unpack(ARGV, 8)) end

local article = find(number)
local left = article.time + window - now
for _, voters in ipairs({VOTED .. number, DOWNVOTED .. number}) do
  if left < 0 then redis.call("DEL", voters) else redis.call("PEXPIRE", voters, left + GRACE) end
end
if is_known then return {"known"} end

list(article)
credit(article, article.up - article.down - 1)
return {"restored"}
