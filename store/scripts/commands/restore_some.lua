-- Restore votes on some articles and comments of this partition that an action holds, which is reverted. From the first call
-- on, that action annuls no vote here any more. A vote that no other action holds counts again, and its voter is back in the
-- set of voters if that still exists.
-- requires: vote_counts
-- from prelude: require_writable(), now (unix milliseconds), split(text) -> {word, ...}, expire_voters(set, article)
-- from annulled: held_vote(number, voter) -> (1 | -1, numbers of actions) | nil, forget_annulled(number)
-- from recounts: forget_recounted(position)
-- from vote_counts: case, count_keys(kind, others) -> (number of subjects, number of keys), voter, release_member(member),
--   member_of(number) -> 16 digits, find_subject(number, archived) -> fields by name | nil, count_vote(subject, value, sign),
--   log_votes(kind) -> (entry id, effects, changes of karma)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       restoring: reverted actions, which annul no more votes
--       annulled: votes on an article or comment that do not count, by voter
-- ARGV  1-11 for vote_counts.lua, such as 3 now (unix milliseconds), 8 number of the action (`case` below) and 9 the
--       voter
--       12 "1" if what is not here is gone, else ""
--       from 13 on, for each article or comment: number, and if it is archived (in the database only) its fields as
--       words, which vote_counts.lua parses, else ""
-- Reply {"restored", {numbers that are not here}, id of the log's entry, {another partition whose users this concerns,
--       id of the last earlier entry that did or "", ...}, POSTER:CHANGE words of karma of posters in other partitions}
require_writable()
local HOUR, absent = 3600000, {} -- milliseconds; numbers of articles and comments that are not here
forget_recounted(ARGV[11])
redis.call("ZADD", KEY.restoring, now, case)
redis.call("ZREMRANGEBYSCORE", KEY.restoring, "-inf", now - HOUR)
redis.call("PEXPIRE", KEY.restoring, HOUR)

-- Which of some actions hold a vote beside this one: numbers, with spaces between.
local function other_cases(cases)
  if cases == case then return "" end
  local others = {}
  for _, each in ipairs(split(cases)) do if each ~= case then others[#others + 1] = each end end
  return table.concat(others, " ")
end

local subject_count, with_voters = count_keys(KEY.voted, 1)

local function add_voter(subject, value)
  if with_voters < subject_count and redis.call("EXISTS", KEY.voted .. subject.number) == 0 then return end
  if value == 1 then
    redis.call("SADD", KEY.voted .. subject.number, voter) -- the poster is in it, so it expires
  else
    redis.call("SADD", KEY.downvoted .. subject.number, voter)
    expire_voters(KEY.downvoted, subject)
  end
end

local function release(number, value, others)
  if others ~= "" then
    redis.call("HSET", KEY.annulled .. number, voter, string.format("%d %s", value, others))
  else
    redis.call("HDEL", KEY.annulled .. number, voter)
  end
  release_member(member_of(number))
end

local function restore(number, archived)
  local value, cases = held_vote(number, voter)
  local subject = find_subject(number, archived)
  if not value or not subject and ARGV[12] == "1" then
    release_member(member_of(number))
    if value then forget_annulled(number) end
    return
  end
  local others = other_cases(cases)
  if not subject and others == "" then
    absent[#absent + 1] = number
    return
  end
  release(number, value, others)
  if others ~= "" or value == 0 then return end
  add_voter(subject, value)
  count_vote(subject, value, 1)
end

for i = 13, #ARGV, 2 do restore(ARGV[i], ARGV[i + 1]) end
return {"restored", absent, log_votes("votes_restored")}
