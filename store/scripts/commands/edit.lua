-- Change the title, link or content of an article, if the actor is its poster. An edit that a rule of the site holds
-- waits for a moderator, and the article stays as it is, unless the article is pending already.
-- requires: article_edits
-- from prelude: actor() -> username | false, find_article(number) -> fields by name | nil
-- from article_indexes: article_hash(number) -> {field, value, ...}
-- from edits: hold_edit(subject, type, held_by, changes, link_digest, most, mentioned), replace_edit(subject, type)
-- from article_edits: change_article(article, changes, link_digest, most, mentioned) -> (entry id, effects, notified)
-- replies kept in case the call is sent again, by status (part 2 of the reply is read anew): edited without part 2, held without part 2
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of partitions   8 number of the article   9 digest of the new link, or ""
--       10 how many mentions notify at most
--       11 what the rules of the site say of the new texts: "hold" and the name of the rule, "refuse", or ""
--       12 number of changes   then for each change: field, new value ("" removes a link or content)
--       then for each user whom the new content mentions: username in lower case, then slot (one of 1,024; it decides
--       their partition)
-- Reply {"edited" | "held", {field, value, ...}, id of the log's entry or "", {another partition whose users this
--       concerns, id of the last earlier entry for it, or "", ...}, KIND:NAME:SLOT:TIME of each user whom this edit
--       notifies}
--       | {"missing"} | {"forbidden"} | {"hidden"} if the article is removed | {"unauthenticated"}
--       | {"broken"} if the rules refuse it | {"bare"} if neither link nor content would remain
local link_digest, most_mentions, verdict = ARGV[9], ARGV[10], ARGV[11]
local editor = actor()
if not editor then return {"unauthenticated"} end

local article = find_article(ARGV[8])
if not article then return {"missing"} end
if article.poster ~= editor then return {"forbidden"} end
if article.state == "removed" then return {"hidden"} end
if verdict == "refuse" then return {"broken"} end

local last = 12 + 2 * tonumber(ARGV[12])
local changes, mentioned = {unpack(ARGV, 13, last)}, {unpack(ARGV, last + 1)}
local after = {link = article.link, content = article.content}
for i = 1, #changes, 2 do after[changes[i]] = changes[i + 1] ~= "" and changes[i + 1] end
if not changes[1] then return {"edited", article.flat, "", {}, ""} end
if not (after.link or after.content) then return {"bare"} end

local held_by = string.match(verdict, "^hold (.+)$")
if held_by and article.state ~= "pending" then
  hold_edit(article, "article", held_by, changes, link_digest, most_mentions, mentioned)
  return {"held", article.flat, "", {}, ""}
end
if held_by then redis.call("HSET", KEY.article .. article.number, "held_by", held_by) end
replace_edit(article, "article")
local id, effects, told = change_article(article, changes, link_digest, most_mentions, mentioned)
return {"edited", article_hash(article.number), id, effects, told}
