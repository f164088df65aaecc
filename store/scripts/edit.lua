-- Change the title, link or content of an article, if the actor is its poster.
-- KEYS  see prelude.lua
-- ARGV  1-6 see prelude.lua   7 number   8 digest of the new link, or ""
--       then field, value of each change; "" removes a link or content
-- Reply {"edited", {field, value, ...}} | {"missing"} | {"forbidden"} | {"unauthenticated"}
--       | {"bare"} if neither link nor content would remain
local editor = actor()
if not editor then return {"unauthenticated"} end

local article = find_article(ARGV[7])
if not article then return {"missing"} end
if article.poster ~= editor then return {"forbidden"} end

local hash = ARTICLE .. article.number
local after = {link = redis.call("HGET", hash, "link"), content = redis.call("HGET", hash, "content")}
for i = 9, #ARGV, 2 do after[ARGV[i]] = ARGV[i + 1] ~= "" and ARGV[i + 1] end
if #ARGV > 9 and not (after.link or after.content) then return {"bare"} end

for i = 9, #ARGV, 2 do
  if ARGV[i] == "link" then set_link_digest(article, ARGV[8]) end
  if ARGV[i + 1] == "" then
    redis.call("HDEL", hash, ARGV[i])
  else
    redis.call("HSET", hash, ARGV[i], ARGV[i + 1])
  end
end
if #ARGV > 9 then
  redis.call("HSET", hash, "edited", now)
  local id = append_texts("edited", editor, article, "edited", ARGV[3], unpack(ARGV, 9))
  publish_event("edited", article, article.groups, id)
end
return {"edited", article_hash(article.number)}
