-- Restore votes on some articles and comments of this partition: those that an action holds which was reverted. From the
-- first call on, that action annuls no vote here any more. A vote that no other action holds counts again, and its voter is
-- back in the set of voters if the set still exists.
-- requires: vote_counts
-- from prelude: require_writable(), now (unix milliseconds), split(text) -> {word, ...}, expire_voters(prefix, subject),
--   member_of(number) -> 16 digits
-- from annulled: held_vote(number, voter) -> (1 | 0 | -1, numbers of actions) | nil, forget_annulled(number)
-- from recounts: forget_recounted(position)
-- from vote_counts: read_up_to (the last entry of the log that the database had read), case,
--   count_keys(prefix, step) -> (number of subjects, number of keys), voter, release_member(member),
--   find_subject(number, archived) -> fields by name | nil, count_vote(subject, value, sign),
--   log_votes(kind) -> (entry id, effects, changes of karma)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       restoring: reverted actions, which annul no more votes
--       annulled: votes on an article or comment that do not count, by voter
--       voted: those who voted up   downvoted: those who voted down
-- ARGV  1-11 for vote_counts.lua, such as 3 now (unix milliseconds), 8 number of the action (`case` below), 9 the
--       voter and 11 the last entry of the log that the database had read (`read_up_to`)
--       12 "1" if what is not here was deleted, else ""
--       from 13 on, for each article or comment: number, and if it is archived (in the database only) its fields as
--       words, which vote_counts.lua parses, else ""
-- Reply {"restored", {numbers that are not here}, id of the log's entry, {another partition whose users this concerns,
--       id of the last earlier entry for it, or "", ...}, words POSTER:CHANGE:UPVOTED of posters in other partitions}
require_writable()
local HOUR = 3600000 -- milliseconds: by then no late process annuls votes
local PER_SUBJECT = 2 -- arguments of each article or comment, from 13 on
local absent = {} -- numbers of articles and comments that are not here
forget_recounted(read_up_to)
redis.call("ZADD", KEY.restoring, now, case)
redis.call("ZREMRANGEBYSCORE", KEY.restoring, "-inf", now - HOUR)
redis.call("PEXPIRE", KEY.restoring, HOUR)

-- The numbers of some actions without that of this one, with spaces between.
local function without_this(actions)
  if actions == case then return "" end
  local others = {}
  for _, each in ipairs(split(actions)) do if each ~= case then others[#others + 1] = each end end
  return table.concat(others, " ")
end

local subject_count, with_voters = count_keys(KEY.voted, PER_SUBJECT) -- and how many still have a set of voters

local function add_voter(subject, value)
  if with_voters < subject_count and redis.call("EXISTS", KEY.voted .. subject.number) == 0 then return end
  if value == 1 then
    redis.call("SADD", KEY.voted .. subject.number, voter) -- the set exists, with its expiry, as the poster is in it
  else
    redis.call("SADD", KEY.downvoted .. subject.number, voter)
    expire_voters(KEY.downvoted, subject)
  end
end

-- Takes this action off those that hold a vote: `others` remain.
local function release(number, value, others)
  if others ~= "" then
    redis.call("HSET", KEY.annulled .. number, voter, string.format("%d %s", value, others))
  else
    redis.call("HDEL", KEY.annulled .. number, voter)
  end
  release_member(member_of(number))
end

local function restore(number, archived)
  local value, actions = held_vote(number, voter)
  local subject = find_subject(number, archived)
  if not value or not subject and ARGV[12] == "1" then
    release_member(member_of(number))
    if value then forget_annulled(number) end
    return
  end
  local others = without_this(actions)
  if not subject and others == "" then
    absent[#absent + 1] = number
    return
  end
  release(number, value, others)
  if others ~= "" or value == 0 then return end
  add_voter(subject, value)
  count_vote(subject, value, 1)
end

for i = 13, #ARGV, PER_SUBJECT do restore(ARGV[i], ARGV[i + 1]) end
return {"restored", absent, log_votes("votes_restored")}
