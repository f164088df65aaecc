-- Change the title, link or content of an article, if the actor is its poster.
-- requires: article_indexes, flags, log_text, notifications
-- ARGV  1-7 see notifications.lua   8 number   9 digest of the new link, or ""   10 how many mentions notify at most
--       11 what the rules of the site say of the new texts: "hold" if they may stand only in an article that is pending
--       already, "refuse", or ""   12 number of changes   then for each change: field, new value ("" removes a link or content)
--       then for each user whom the new content mentions: username in lower case, slot
-- Reply {"edited", {field, value, ...}, id of the entry, what `note_effects` returns, users whom this edit notifies}
--       | {"missing"} | {"forbidden"} | {"hidden"} if the article is removed | {"unauthenticated"}
--       | {"broken"} if the rules refuse it | {"bare"} if neither link nor content would remain
local editor = actor()
if not editor then return {"unauthenticated"} end

local article = find_article(ARGV[8])
if not article then return {"missing"} end
if article.poster ~= editor then return {"forbidden"} end
if article.state == "removed" then return {"hidden"} end
if ARGV[11] == "refuse" or ARGV[11] == "hold" and article.state ~= "pending" then return {"broken"} end

local hash, last = KEY.article .. article.number, 12 + 2 * tonumber(ARGV[12])
local after = {link = redis.call("HGET", hash, "link"), content = redis.call("HGET", hash, "content")}
for i = 13, last, 2 do after[ARGV[i]] = ARGV[i + 1] ~= "" and ARGV[i + 1] end
if last == 12 then return {"edited", article_hash(article.number), "", {}, ""} end
if not (after.link or after.content) then return {"bare"} end

for i = 13, last, 2 do
  if ARGV[i] == "link" then set_link_digest(article, ARGV[9]) end
  if ARGV[i + 1] == "" then
    redis.call("HDEL", hash, ARGV[i])
  else
    redis.call("HSET", hash, ARGV[i], ARGV[i + 1])
  end
end
redis.call("HSET", hash, "edited", now)
forget_cleared_flags(article.number)
local notified = newly_notified(editor, article.notified, nil, ARGV[10], last + 1)
add_notified(hash, article.notified, notified)
local told = notified
if article.state and notified ~= "" then -- they have it in their inboxes when it is shown again
  redis.call("HSET", hash, "away", "1")
  told = ""
end
local values = {with_notified(notified, "edited", ARGV[3], unpack(ARGV, 13, last))}
if told ~= notified then values = {"told", told, unpack(values)} end
local id = append_text("edited", editor, "article", article.number, unpack(values))
notify_here(told, "article", article.number, editor)
publish_event("edited", article, article.groups, id)
return {"edited", article_hash(article.number), id, note_effects(id, slots_of(told)), told}
