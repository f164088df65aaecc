-- Import a story of another site as an article with its own posting time, once. The poster and the known voters are in
-- the voter set; all other votes are counted without a voter.
-- requires: article_indexes, log_entry, log_text
-- from prelude: require_writable(), split(text) -> {word, ...}, add_karma(article, votes),
--   publish_event(kind, article, groups, id, channel)
-- from article_indexes: story_number(time, slot) -> number, write_article(article, title, link, content, imported),
--   add_voters(article, voters), entry_of(article, title, link, content) -> field, value, ...
-- from log_entry: log_entry(log, events, at, kind, actor, subject, ...) -> entry id
-- from log_text: append_text(kind, actor, type, number, ...) -> entry id
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       imported: numbers of imported stories and comments, by foreign id
-- ARGV  1-2 actor: the poster, who is created if there is no such user   3 now (unix milliseconds)
--       4-6 settings of ranking and voting, for prelude.lua   7 id of the story on the other site   8 title
--       9 link or ""   10 content or ""   11 groups, separated by spaces
--       12 slot of the poster (one of 1,024; it decides their partition)   13 posting time (unix milliseconds)
--       14 votes   15 known voters, separated by spaces   16 digest of the link, or ""
-- Reply {"imported", number, number of users created: 1 or 0} | {"known", number} if it was imported before
local foreign_id, title, link, content, posted_at = ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[13]
require_writable()
local known = redis.call("HGET", KEY.imported, foreign_id)
if known then return {"known", known} end

local number = story_number(tonumber(posted_at), tonumber(ARGV[12]))
local poster = ARGV[1]
local account = KEY.user .. string.lower(poster)
local created = 1 - redis.call("EXISTS", account)
if created == 1 then
  redis.call("HSET", account, "name", poster, "joined", posted_at, "karma", 0)
  local user = "user:" .. string.lower(poster)
  log_entry(KEY.log, KEY.events, ARGV[3], "registered", poster, user, "name", poster, "joined", posted_at)
end
poster = redis.call("HGET", account, "name")

local voters = split(ARGV[15])
voters[#voters + 1] = poster
local article = {
  number = number, member = string.format("%016.0f", tonumber(number)),
  poster = poster, time = tonumber(posted_at), up = tonumber(ARGV[14]), down = 0, groups = split(ARGV[11]),
  link_digest = ARGV[16],
}
local imported = article.up - #voters -- votes without a known voter
write_article(article, title, link, content, imported)
add_voters(article, voters)
add_karma(article, article.up - 1) -- the poster's own vote gives no karma
redis.call("HSET", KEY.imported, foreign_id, number)
local id = append_text("imported", poster, "article", number,
  "imported", imported, "voters", table.concat(voters, " "), "story", foreign_id,
  entry_of(article, title, link, content)
)
publish_event("imported", article, article.groups, id)
return {"imported", number, created}
