-- Post an article: hash, indexes, groups, timeline and the poster's own vote, in one step.
-- KEYS  see prelude.lua
-- ARGV  1-6 see prelude.lua   7 title   8 link or ""   9 content or ""   10 groups, separated by spaces
--       11 slot of the poster   12 digest of the idempotency key, or a random digest   13 digest of the input
--       14 how long the idempotency key is kept (milliseconds)
-- Reply {"posted", number, {field, value, ...}, poster}
--       | {"replayed", number, {field, value, ...}, poster} if the key was used with this input; without fields if the
--       article was deleted
--       | {"mismatch"} if the key was used with other input | {"unauthenticated"}
local poster = actor()
if not poster or redis.call("EXISTS", USER .. string.lower(poster)) == 0 then return {"unauthenticated"} end

local key = POSTED .. string.lower(poster) .. ":" .. ARGV[12]
local earlier = split(redis.call("GET", key) or "")
if earlier[1] and now - tonumber(earlier[2]) <= tonumber(ARGV[14]) then
  if earlier[3] ~= ARGV[13] then return {"mismatch"} end
  return {"replayed", earlier[1], article_hash(earlier[1]), poster}
end

local number = next_number(tonumber(ARGV[11]))
local article = {
  number = number, member = string.format("%016.0f", tonumber(number)),
  poster = poster, time = now, up = 1, down = 0, groups = split(ARGV[10]),
}
write_article(article, ARGV[7], ARGV[8], ARGV[9], 0)
add_voters(article, {poster})
redis.call("SET", key, string.format("%s %.0f %s", number, now, ARGV[13]), "PX", ARGV[14])
publish_event("posted", article, article.groups)
return {"posted", number, article_hash(number), poster}
