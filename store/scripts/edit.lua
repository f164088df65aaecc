-- Change the title, link or content of one's own article.
-- ARGV  7 number   then field, value for each change; "" takes a link or content away
-- Reply {"edited", {field, value, ...}} | {"missing"} | {"forbidden"} | {"bare"} when neither link nor content would be
--       left | {"unauthenticated"}
local editor = actor()
if not editor then return {"unauthenticated"} end

local article = find(ARGV[7])
if not article then return {"missing"} end
if article.poster ~= editor then return {"forbidden"} end

local hash = ARTICLE .. article.number
local left = {link = redis.call("HGET", hash, "link"), content = redis.call("HGET", hash, "content")}
for i = 8, #ARGV, 2 do left[ARGV[i]] = ARGV[i + 1] ~= "" and ARGV[i + 1] end
if #ARGV > 8 and not (left.link or left.content) then return {"bare"} end

for i = 8, #ARGV, 2 do
  if ARGV[i + 1] == "" then
    redis.call("HDEL", hash, ARGV[i])
  else
    redis.call("HSET", hash, ARGV[i], ARGV[i + 1])
  end
end
if #ARGV > 8 then
  redis.call("HSET", hash, "edited", now)
  tell("edited", article, article.groups)
end
return {"edited", stored(article.number)}
