-- Post an article: hash, indexes, groups, timeline and the poster's own vote, or none of it.
-- ARGV  7 title   8 link or ""   9 content or ""   10 group names, space between   11 slot of the poster
--       12 digest of the idempotency key, or what this post alone is known by   13 digest of the input
--       14 how long that is kept (milliseconds)
-- Reply {"posted" or "replayed", number, {field, value, ...}, poster} | {"mismatch"} | {"unauthenticated"}
local poster = actor()
if not poster or redis.call("EXISTS", USER .. string.lower(poster)) == 0 then return {"unauthenticated"} end

local key = POSTED .. string.lower(poster) .. ":" .. ARGV[12]
local earlier = words(redis.call("GET", key) or "")
if earlier[1] and now - tonumber(earlier[2]) <= tonumber(ARGV[14]) then
  if earlier[3] ~= ARGV[13] then return {"mismatch"} end
  return {"replayed", earlier[1], stored(earlier[1]), poster}
end

local number = next_number(tonumber(ARGV[11]))
local article = {
  number = number, member = string.format("%016.0f", tonumber(number)),
  poster = poster, time = now, up = 1, down = 0, groups = words(ARGV[10]),
}
publish(article, ARGV[7], ARGV[8], ARGV[9], 0)
remember(article, {poster})
redis.call("SET", key, string.format("%s %.0f %s", number, now, ARGV[13]), "PX", ARGV[14])
tell("posted", article, article.groups)
return {"posted", number, stored(number), poster}
