-- Post an article: hash, indexes, groups, timeline and the poster's own vote, in one step.
-- KEYS  see prelude.lua
-- ARGV  1-6 see prelude.lua   7 title   8 link or ""   9 content or ""   10 groups, separated by spaces
--       11 slot of the poster   12 digest of the idempotency key; of the input if there is none
--       13 digest of the input; without an idempotency key a random digest, which says which call has posted
--       14 how long the same key, or the same input, is a replay   15 how long 12 is kept (both in milliseconds)
--       16 "keyed" if there is an idempotency key, else ""   17 digest of the link, or ""
-- Reply {"posted", number, {field, value, ...}, poster}
--       | {"replayed", number, {field, value, ...}, poster} if this was posted before; without fields if the key was used
--       and the article was deleted
--       | {"mismatch"} if the key was used with other input | {"unauthenticated"}
local poster = actor()
if not poster or redis.call("EXISTS", USER .. string.lower(poster)) == 0 then return {"unauthenticated"} end

local key = POSTED .. string.lower(poster) .. ":" .. ARGV[12]
local earlier = split(redis.call("GET", key) or "")
if earlier[1] and now - tonumber(earlier[2]) <= tonumber(ARGV[14]) then
  local article, is_same, is_keyed = article_hash(earlier[1]), earlier[3] == ARGV[13], ARGV[16] == "keyed"
  if is_keyed and not is_same then return {"mismatch"} end
  if is_keyed then return {"replayed", earlier[1], article, poster} end
  if is_same then return {"posted", earlier[1], article, poster} end -- the reply was lost, and the call sent again
  if article[1] then return {"replayed", earlier[1], article, poster} end
end

local number = next_number(tonumber(ARGV[11]))
local article = {
  number = number, member = string.format("%016.0f", tonumber(number)),
  poster = poster, time = now, up = 1, down = 0, groups = split(ARGV[10]),
  link_digest = ARGV[17],
}
write_article(article, ARGV[7], ARGV[8], ARGV[9], 0)
add_voters(article, {poster})
redis.call("SET", key, string.format("%s %.0f %s", number, now, ARGV[13]), "PX", ARGV[15])
local id = append_texts("posted", poster, article, entry_of(article, ARGV[7], ARGV[8], ARGV[9]))
publish_event("posted", article, article.groups, id)
return {"posted", number, article_hash(number), poster}
