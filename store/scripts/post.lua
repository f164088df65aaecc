-- Post an article: hash, indexes, groups, timeline and the poster's own vote, in one step.
-- KEYS  see notifications.lua
-- ARGV  1-7 see notifications.lua   8 title   9 link or ""   10 content or ""   11 groups, separated by spaces
--       12 slot of the poster   13 digest of the idempotency key; of the input if there is none
--       14 digest of the input; without an idempotency key a random digest, which says which call has posted
--       15 how long the same key, or the same input, is a replay   16 how long 13 is kept (both in milliseconds)
--       17 "keyed" if there is an idempotency key, else ""   18 digest of the link, or ""
--       19 how many mentions notify at most   20 from here on: each user whom the content mentions, as username in lower
--       case, then slot
-- Reply {"posted", number, {field, value, ...}, poster, id of the entry, what `note_effects` returns, `notified`}
--       | {"replayed", number, {field, value, ...}, poster} if this was posted before; without fields if the key was used
--       and the article was deleted
--       | {"mismatch"} if the key was used with other input | {"unauthenticated"}
local poster = actor()
if not poster or redis.call("EXISTS", USER .. string.lower(poster)) == 0 then return {"unauthenticated"} end

local key = POSTED .. string.lower(poster) .. ":" .. ARGV[13]
local earlier = split(redis.call("GET", key) or "")
if earlier[1] and now - tonumber(earlier[2]) <= tonumber(ARGV[15]) then
  local article, is_same, is_keyed = article_hash(earlier[1]), earlier[3] == ARGV[14], ARGV[17] == "keyed"
  if is_keyed and not is_same then return {"mismatch"} end
  if is_keyed then return {"replayed", earlier[1], article, poster} end
  if is_same then return {"posted", earlier[1], article, poster, "", {}, ""} end -- the reply was lost, and the call sent again
  if article[1] then return {"replayed", earlier[1], article, poster} end
end

local number = next_number(tonumber(ARGV[12]))
local article = {
  number = number, member = string.format("%016.0f", tonumber(number)),
  poster = poster, time = now, up = 1, down = 0, groups = split(ARGV[11]),
  link_digest = ARGV[18],
}
write_article(article, ARGV[8], ARGV[9], ARGV[10], 0)
add_voters(article, {poster})
local notified = newly_notified(poster, "", nil, ARGV[19], 20)
if notified ~= "" then redis.call("HSET", ARTICLE .. number, "notified", notified) end
redis.call("SET", key, string.format("%s %.0f %s", number, now, ARGV[14]), "PX", ARGV[16])
local values = {with_notified(notified, entry_of(article, ARGV[8], ARGV[9], ARGV[10]))}
local id = append_texts("posted", poster, article, unpack(values))
notify_here(notified, "article", number)
publish_event("posted", article, article.groups, id)
return {"posted", number, article_hash(number), poster, id, note_effects(id, slots_of(notified)), notified}
