-- Delete an article and everything derived from it, if the actor is its poster. Its number is not used again. Its comments
-- cannot be reached any more; `remove_thread.lua` removes them.
-- KEYS  see comments.lua
-- ARGV  1-7 see comments.lua   8 number
-- Reply {"deleted", 1 if there are comments to be removed, else 0, id of the entry, what `note_effects` returns,
--       `notified`} | {"missing"} | {"forbidden"} | {"unauthenticated"}
local deleter = actor()
if not deleter then return {"unauthenticated"} end

local article = find_article(ARGV[8])
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
  with_notified(article.notified, "poster", article.poster, "groups", table.concat(article.groups, " "),
    "entries", with_texts)
)
forget_here(article.notified, "article", article.number)
publish_event("deleted", article, article.groups, id)
local has_comments = redis.call("EXISTS", TREE .. article.number)
if has_comments == 1 then redis.call("ZADD", REMOVING, now, article.number) end
return {"deleted", has_comments, id, note_effects(id, slots_of(article.notified)), article.notified or ""}
