-- Change the title, link or content of an article, if the actor is its poster.
-- KEYS  see notifications.lua
-- ARGV  1-7 see notifications.lua   8 number   9 digest of the new link, or ""   10 how many mentions notify at most
--       11 how many changes there are; then field, value of each change: "" removes a link or content; then each user
--       whom the new content mentions, as username in lower case, then slot
-- Reply {"edited", {field, value, ...}, id of the entry, what `note_effects` returns, `notified` of this edit}
--       | {"missing"} | {"forbidden"} | {"unauthenticated"} | {"bare"} if neither link nor content would remain
local editor = actor()
if not editor then return {"unauthenticated"} end

local article = find_article(ARGV[8])
if not article then return {"missing"} end
if article.poster ~= editor then return {"forbidden"} end

local hash, last = ARTICLE .. article.number, 11 + 2 * tonumber(ARGV[11])
local after = {link = redis.call("HGET", hash, "link"), content = redis.call("HGET", hash, "content")}
for i = 12, last, 2 do after[ARGV[i]] = ARGV[i + 1] ~= "" and ARGV[i + 1] end
if last == 11 then return {"edited", article_hash(article.number), "", {}, ""} end
if not (after.link or after.content) then return {"bare"} end

for i = 12, last, 2 do
  if ARGV[i] == "link" then set_link_digest(article, ARGV[9]) end
  if ARGV[i + 1] == "" then
    redis.call("HDEL", hash, ARGV[i])
  else
    redis.call("HSET", hash, ARGV[i], ARGV[i + 1])
  end
end
redis.call("HSET", hash, "edited", now)
local notified = newly_notified(editor, article.notified, nil, ARGV[10], last + 1)
add_notified(hash, article.notified, notified)
local values = {with_notified(notified, "edited", ARGV[3], unpack(ARGV, 12, last))}
local id = append_text("edited", editor, "article", article.number, unpack(values))
notify_here(notified, "article", article.number)
publish_event("edited", article, article.groups, id)
return {"edited", article_hash(article.number), id, note_effects(id, slots_of(notified)), notified}
