-- Delete an article and everything derived from it, if the actor is its poster. Its number is not used again.
-- KEYS  see prelude.lua
-- ARGV  1-6 see prelude.lua   7 number
-- Reply {"deleted"} | {"missing"} | {"forbidden"} | {"unauthenticated"}
local deleter = actor()
if not deleter then return {"unauthenticated"} end

local article = find_article(ARGV[7])
if not article then return {"missing"} end
if article.poster ~= deleter then return {"forbidden"} end

for _, order in ipairs(ORDERS) do redis.call("ZREM", INDEX[order], article.member) end
redis.call("ZREM", GOOD_ARTICLES, article.member)
for _, group in ipairs(article.groups) do remove_from_group(article, group) end
remove_from_link(article)
remove_from_timeline(article)
add_karma(article, 1 - (article.up - article.down))
redis.call("DEL", ARTICLE .. article.number, VOTED .. article.number, DOWNVOTED .. article.number)

local with_texts = redis.call("HGET", LOGGED, article.number) or ""
for _, entry in ipairs(split(with_texts)) do redis.call("XDEL", LOG, entry) end
redis.call("HDEL", LOGGED, article.number)
local id = append_log(
  "deleted", deleter, "article:" .. article.number,
  "poster", article.poster, "groups", table.concat(article.groups, " "), "entries", with_texts
)
publish_event("deleted", article, article.groups, id)
return {"deleted"}
