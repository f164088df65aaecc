-- Change the content of a comment, if the actor is its poster.
-- KEYS  see comments.lua
-- ARGV  1-7 see comments.lua   8 number   9 content   10 from here on: each user whom the content mentions, as username in
--       lower case, then slot
-- Reply {"edited", {field, value, ...}, id of the entry, what `note_effects` returns} | {"missing"} | {"forbidden"}
--       | {"unauthenticated"}
local editor = actor()
if not editor then return {"unauthenticated"} end

local comment = find_comment(ARGV[8])
if not comment or comment.state == "deleted" or not find_home(comment.article) then return {"missing"} end
if comment.poster ~= editor then return {"forbidden"} end

-- A user whom the comment has notified is not notified again.
local known, added, slots = {[string.lower(editor)] = true}, {}, {}
for _, each in ipairs(split(comment.notified or "")) do known[string.match(each, ":(%S+):")] = true end
for i = 10, #ARGV, 2 do
  if not known[ARGV[i]] then
    known[ARGV[i]] = true
    added[#added + 1] = table.concat({"mention", ARGV[i], ARGV[i + 1]}, ":")
    slots[#slots + 1] = ARGV[i + 1]
  end
end

redis.call("HSET", comment.hash, "content", ARGV[9], "edited", now)
local notified = table.concat(added, " ")
if added[1] then
  redis.call("HSET", comment.hash, "notified", comment.notified and comment.notified .. " " .. notified or notified)
end
local id = append_comment_text(
  "comment_edited", editor, comment, "content", ARGV[9], "edited", now, "notified", notified
)
publish_comment("comment_edited", comment, id)
return {"edited", comment_hash(comment.number), id, note_effects(id, slots)}
