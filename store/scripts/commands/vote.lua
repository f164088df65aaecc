-- Set the vote of one voter on an article while voting is open.
-- requires: cast_vote, upvoters
-- from prelude: actor() -> username | false, find_article(number) -> fields by name | nil, now (unix milliseconds),
--   window (milliseconds in which votes are open), require_not_banned(groups), update_indexes(article, before),
--   add_karma(article, votes), append_log(kind, actor, subject, ...) -> entry id,
--   publish_event(kind, article, groups, id, channel)
-- from cast_vote: cast_vote(subject, voter, vote) -> (counts before, change) | (nil, reply),
--   counted_hash(subject) -> {field, value, ...}
-- from upvoters: add_upvoter(account, voter)
-- replies kept in case the call is sent again, by status (part 3 of the reply is read anew): voted without part 3
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       voteevents: channel of votes
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of the article   8 the vote: 1, 0 or -1
-- Reply {"voted" or, without any change, "same", voter, {field, value, ...}} | {"missing"}
--       | {"closed", when voting closed (unix milliseconds)} | {"locked"}
--       | {"hidden"} if the article is not visible
--       | {"forbidden"} if the poster would withdraw or reverse the first vote | {"unauthenticated"}
local voter = actor()
if not voter then return {"unauthenticated"} end

local article = find_article(ARGV[7])
if not article then return {"missing"} end
-- Once voting is closed, banned users, too, are told that, as they are for an archived article.
if now <= article.time + window then require_not_banned(article.groups) end

local before, change = cast_vote(article, voter, tonumber(ARGV[8]))
if not before then return change end -- which is the reply then

local counts = article.counts -- set by `cast_vote`, as is `is_annulled` if the vote does not count
redis.call("HSET", KEY.article .. article.number, "up", counts.up, "down", counts.down)
update_indexes(article, before)
add_karma(article, change)
if ARGV[8] == "1" and not article.is_annulled then add_upvoter(KEY.user .. string.lower(article.poster), voter) end
local id = append_log(
  "voted", voter, "article:" .. article.number, "value", ARGV[8], "up", counts.up, "down", counts.down,
  unpack(article.is_annulled and {"annulled", "1"} or {})
)
publish_event("voted", article, article.groups, id, KEY.voteevents)
return {"voted", voter, counted_hash(article)}
