-- Import a story of another site as an article with its own posting time, once. The poster and the known voters are in
-- the voter set; all other votes are counted without a voter.
-- KEYS  see comments.lua
-- ARGV  1-7 see comments.lua; the actor is the poster, who is created if there is no such user
--       8 id of the story on the other site   9 title   10 link or ""   11 content or ""
--       12 groups, separated by spaces   13 slot of the poster   14 posting time (unix milliseconds)   15 votes
--       16 known voters, separated by spaces   17 digest of the link, or ""
-- Reply {"imported", number, number of users created: 1 or 0} | {"known", number} if it was imported before
require_open()
local known = redis.call("HGET", IMPORTED, ARGV[8])
if known then return {"known", known} end

local number = story_number(tonumber(ARGV[14]), tonumber(ARGV[13]), COMMENT)
local poster = ARGV[1]
local account = USER .. string.lower(poster)
local created = 1 - redis.call("EXISTS", account)
if created == 1 then
  redis.call("HSET", account, "name", poster, "joined", ARGV[14], "karma", 0)
  local user = "user:" .. string.lower(poster)
  log_entry(LOG, EVENTS, ARGV[3], "registered", poster, user, "name", poster, "joined", ARGV[14])
end
poster = redis.call("HGET", account, "name")

local voters = split(ARGV[16])
voters[#voters + 1] = poster
local article = {
  number = number, member = string.format("%016.0f", tonumber(number)),
  poster = poster, time = tonumber(ARGV[14]), up = tonumber(ARGV[15]), down = 0, groups = split(ARGV[12]),
  link_digest = ARGV[17],
}
write_article(article, ARGV[9], ARGV[10], ARGV[11], article.up - #voters)
add_voters(article, voters)
add_karma(article, article.up - 1)
redis.call("HSET", IMPORTED, ARGV[8], number)
local id = append_text("imported", poster, "article", number,
  "imported", article.up - #voters, "voters", table.concat(voters, " "), "story", ARGV[8],
  entry_of(article, ARGV[9], ARGV[10], ARGV[11])
)
publish_event("imported", article, article.groups, id)
return {"imported", number, created}
