-- Post an article: hash, indexes, groups, timeline and the poster's own vote, in one step.
-- requires: article_indexes, article_states, group_rules, idempotency, log_text, notifications
-- from prelude: actor() -> username | false, require_not_banned(groups), split(text) -> {word, ...}, now (unix milliseconds),
--   publish_event(kind, article, groups, id, channel)
-- from numbers: next_number(slot) -> text
-- from article_indexes: article_hash(number) -> {field, value, ...}, write_article(article, title, link, content, imported),
--   add_voters(article, voters), entry_of(article, title, link, content) -> field, value, ...
-- from notifications: newly_notified(poster, before, answered, most, mentioned) -> KIND:NAME:SLOT:TIME ...,
--   add_notified(hash, before, notified), with_notified(notified, ...) -> field, value, ...,
--   notify_here(notified, type, number, poster), note_effects(id, slots) -> {partition, entry id, ...},
--   slots_of(notified, ...) -> {slot, ...}
-- from article_states: log_state(article, actor, announced) -> entry id
-- from group_rules: refused_groups(groups, checked, condition) -> names | nil
-- from idempotency: repeated_reply(prefix, poster, first, status, find) -> reply | nil, note_posted(prefix, first, number)
-- from log_text: append_text(kind, actor, type, number, ...) -> entry id
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       posted: number of a post by its idempotency digest
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of partitions   8 title   9 link or ""   10 content or ""   11 groups, separated by spaces
--       12 slot of the poster (one of 1,024; it decides their partition)
--       13-17 for idempotency.lua, so that a call which is repeated posts once: 13 digest of the idempotency key, 14 of
--       the input, 15 for how long it counts as repeated, 16 how long that is stored (milliseconds), 17 "keyed" or ""
--       18 digest of the link, or ""   19 groups to check, separated by spaces
--       20 what these have to be: "listed", "known" (listed, or with articles), or "none" if they are refused anyway
--       21 what the rules of the site say: "hold" and the name of a rule (it is pending, and announced when a
--       moderator approves it), "refuse", or ""
--       22 how many mentions notify at most
--       23 from here on: each user whom the content mentions, as username in lower case, then slot
-- Reply {"posted", number, {field, value, ...}, poster, id of the log's entry, {another partition whose users this
--       concerns, id of the last earlier entry for it, or "", ...}, KIND:NAME:SLOT:TIME of each user whom it notifies}
--       | {"replayed", number, {field, value, ...}, poster} if this was posted before; without fields if the key was
--       used and the article was deleted | {"refused", groups to which no article may be added, separated by spaces}
--       | {"mismatch"} if the key was used with other input | {"broken"} if the rules refuse it | {"unauthenticated"}
local title, link, content, group_words, verdict = ARGV[8], ARGV[9], ARGV[10], ARGV[11], ARGV[21]
local poster = actor()
if not poster or redis.call("EXISTS", KEY.user .. string.lower(poster)) == 0 then return {"unauthenticated"} end
require_not_banned(split(group_words))

local posted = KEY.posted .. string.lower(poster) .. ":"
local IDEMPOTENCY = 13 -- place in ARGV of the first argument for idempotency.lua
local repeated = repeated_reply(posted, poster, IDEMPOTENCY, "posted", article_hash)
if repeated then return repeated end
local groups = split(group_words)
local refused = refused_groups(groups, ARGV[19], ARGV[20])
if refused then return {"refused", refused} end
if verdict == "refuse" then return {"broken"} end

local number, held_by = next_number(tonumber(ARGV[12])), string.match(verdict, "^hold (.+)$")
local article = {
  number = number, member = string.format("%016.0f", tonumber(number)),
  poster = poster, time = now, up = 1, down = 0, groups = groups,
  link_digest = ARGV[18], state = held_by and "pending" or nil,
}
local imported = 0 -- upvotes without a known voter
write_article(article, title, link, content, imported)
add_voters(article, {poster})
local before, answered = "", nil -- a new article has no earlier versions, and answers nothing
local most_mentions, mentioned = ARGV[22], {unpack(ARGV, 23)}
local notified = newly_notified(poster, before, answered, most_mentions, mentioned)
add_notified(KEY.article .. number, nil, notified)
note_posted(posted, IDEMPOTENCY, number)
local values = {with_notified(notified, entry_of(article, title, link, content))}
if article.state then
  -- `unannounced`: subscribers and users are told of it when it is approved; `away`: until then it is out of inboxes
  redis.call("HSET", KEY.article .. number, "state", article.state, "unannounced", "all", "held_by", held_by)
  if notified ~= "" then redis.call("HSET", KEY.article .. number, "away", "1") end
  local id = append_text("posted", poster, "article", number, "told", "", unpack(values))
  log_state(article, poster)
  return {"posted", number, article_hash(number), poster, id, {}, ""}
end
local id = append_text("posted", poster, "article", number, unpack(values))
notify_here(notified, "article", number, poster)
publish_event("posted", article, article.groups, id)
return {"posted", number, article_hash(number), poster, id, note_effects(id, slots_of(notified)), notified}
