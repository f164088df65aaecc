-- Post a comment: hash, indexes of its siblings, tree, counts and the poster's own vote, in one step.
-- KEYS  see comments.lua
-- ARGV  1-7 see comments.lua   8 number of the article   9 number of the parent comment, or ""   10 content
--       11 slot of the poster   12 digest of the idempotency key; of the input if there is none
--       13 digest of the input; without an idempotency key a random digest, which says which call has posted
--       14 how long the same key, or the same input, is a replay   15 how long 12 is kept (both in milliseconds)
--       16 "keyed" if there is an idempotency key, else ""   17 how many mentions notify at most   18 from here on: each
--       user whom the content mentions, as username in lower case, then slot
-- Reply {"commented", number, {field, value, ...}, poster, id of the entry, what `note_effects` returns, `notified`}
--       | {"replayed", number, {field, value, ...}, poster} if this was posted before; without fields if the key was used
--       and the comment was deleted | {"mismatch"} if the key was used with other input | {"unauthenticated"}
--       | {"missing" or "hidden", "article" or "parent"}, hidden if its state is not visible | {"locked"}
local poster = actor()
if not poster then return {"unauthenticated"} end

local key = COMMENTED .. string.lower(poster) .. ":" .. ARGV[12]
local earlier = split(redis.call("GET", key) or "")
if earlier[1] and now - tonumber(earlier[2]) <= tonumber(ARGV[14]) then
  local comment = find_comment(earlier[1])
  local flat = comment and comment.state ~= "deleted" and comment.flat or {}
  local is_same, is_keyed = earlier[3] == ARGV[13], ARGV[16] == "keyed"
  if is_keyed and not is_same then return {"mismatch"} end
  if is_keyed then return {"replayed", earlier[1], flat, poster} end
  if is_same then return {"commented", earlier[1], flat, poster, "", {}, ""} end -- the reply was lost, the call sent again
  if flat[1] then return {"replayed", earlier[1], flat, poster} end
end

local article_number, home = ARGV[8], find_home(ARGV[8])
if not home then return {"missing", "article"} end
local parent = ARGV[9] ~= "" and find_comment(ARGV[9]) or nil
local is_answerable = parent and parent.article == article_number and parent.state ~= "deleted"
if ARGV[9] ~= "" and not is_answerable then return {"missing", "parent"} end
if home.state then return {"hidden", "article"} end
if parent and parent.state then return {"hidden", "parent"} end
if home.locked == "1" then return {"locked"} end

local number = next_number(article_number % 1024)
local answered = parent or {poster = home.poster, slot = article_number % 1024}
local notified = newly_notified(poster, "", answered, ARGV[17], 18)
local comment = {
  number = number, member = string.format("%016.0f", tonumber(number)), article = article_number,
  parent = parent and parent.number, poster = poster, time = now, up = 1, down = 0,
}
local depth = parent and parent.depth + 1 or 0
redis.call("HSET", COMMENT .. number, "article", article_number, "depth", depth, "poster", poster, "slot", ARGV[11],
  "content", ARGV[10], "time", now, "up", 1, "down", 0)
if parent then redis.call("HSET", COMMENT .. number, "parent", parent.number) end
if notified ~= "" then redis.call("HSET", COMMENT .. number, "notified", notified) end
add_to_tree(comment, parent and parent.path or ARTICLE_PATH)
update_replies(comment)
local groups = count_comment(comment, 1)
add_voters(comment, {poster})
if is_here(ARGV[11]) then redis.call("ZADD", OWN .. string.lower(poster), now, comment.member) end
redis.call("SET", key, string.format("%s %.0f %s", number, now, ARGV[13]), "PX", ARGV[15])
local id = append_comment_text(
  "commented", poster, comment, "parent", comment.parent or "", "depth", depth, "content", ARGV[10], "time", now,
  "up", 1, "down", 0, "notified", notified
)
notify_here(notified, "comment", number)
publish_comment("commented", comment, id, groups)
return {"commented", number, comment_hash(number), poster, id, note_effects(id, slots_of(notified, ARGV[11])), notified}
