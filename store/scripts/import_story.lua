-- Bring in one story of elsewhere as an article at its own time, once. Its points are votes without voters, but for
-- the poster and those named.
-- ARGV  7 the story's own id   8 title   9 link or ""   10 content or ""   11 group names, space between
--       12 slot of the poster   13 posting time (unix milliseconds)   14 votes   15 known voters, space between
-- Reply {"imported", number, how many users were created} | {"known", number}
check_open()
local known = redis.call("HGET", IMPORTED, ARGV[7])
if known then return {"known", known} end

local number = story_number(tonumber(ARGV[13]), tonumber(ARGV[12]))
local poster = ARGV[1]
local account = USER .. string.lower(poster)
local created = 1 - redis.call("EXISTS", account)
if created == 1 then redis.call("HSET", account, "name", poster, "joined", ARGV[13], "karma", 0) end
poster = redis.call("HGET", account, "name")

local voters = words(ARGV[15])
voters[#voters + 1] = poster
local article = {
  number = number, member = string.format("%016.0f", tonumber(number)),
  poster = poster, time = tonumber(ARGV[13]), up = tonumber(ARGV[14]), down = 0, groups = words(ARGV[11]),
}
publish(article, ARGV[8], ARGV[9], ARGV[10], article.up - #voters)
remember(article, voters)
credit(article, article.up - 1)
redis.call("HSET", IMPORTED, ARGV[7], number)
tell("imported", article, article.groups)
return {"imported", number, created}
