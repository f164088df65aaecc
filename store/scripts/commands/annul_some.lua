-- Annul votes of one voter on some articles and comments of this partition, unless the action was reverted: each is noted as
-- held by the action, leaves the set of voters if that exists, and counts no more. A vote that the action holds already stays
-- as it is, and so does a vote of posters on their own texts.
-- requires: vote_counts
-- from prelude: require_writable(), window (milliseconds in which votes are open), split(text) -> {word, ...},
--   add_place(index, value, member)
-- from annulled: held_vote(number, voter) -> (1 | 0 | -1, numbers of actions) | nil
-- from recounts: forget_recounted(position)
-- from vote_counts: case, read_up_to (the last entry of the log that the database had read), voter,
--   count_keys(prefix, step) -> (number of subjects, number of keys), find_subject(number, archived) -> fields by name | nil,
--   count_vote(subject, value, sign), log_votes(kind) -> (entry id, effects, changes of karma)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       restoring: reverted actions, which annul no more votes
--       annulled: votes on an article or comment that do not count, by voter
--       cases: articles and comments with a vote that an action annuls
--       voted: those who voted up   downvoted: those who voted down
-- ARGV  1-11 for vote_counts.lua, such as 3 now (unix milliseconds), 8 number of the action (`case` below), 9 the
--       voter and 11 the last entry of the log that the database had read (`read_up_to`)
--       12 when the database was known to have all votes (unix milliseconds); 0 without one, "" if it has all on these
--       from 13 on, for each article or comment: number, the value of the vote in the database, or 0, and if it is
--       archived (in the database only) its fields as words, which vote_counts.lua parses, else ""
-- Reply {"annulled", {numbers that are not here}, {numbers of those whose voters are gone, closed after ARGV 12}, id of the
--       log's entry, {another partition whose users this concerns, id of the last earlier entry for it, or "", ...},
--       words POSTER:CHANGE:UPVOTED of posters in other partitions} | {"reverted"}
require_writable()
if redis.call("ZSCORE", KEY.restoring, case) then return {"reverted"} end
local absent, unsure = {}, {}
local PER_SUBJECT = 3 -- arguments of each article or comment, from 13 on
local complete_at = tonumber(ARGV[12]) or math.huge
forget_recounted(read_up_to)

-- Takes the vote on a subject out of the set of voters and returns its value, 0 if none counts. `known` is the value in the
-- database. It decides if it is not 0 and voting was closed when the database had all votes. Else the sets of voters decide
-- as long as they exist (one may expire before the other). Returns nil if they are gone and the database may lack votes:
-- a subject whose voting has closed seems open if the voting window was made longer since.
local function take_vote(subject, known)
  local voted, downvoted = KEY.voted .. subject.number, KEY.downvoted .. subject.number
  local closes = subject.time + window
  if known == 0 or closes >= complete_at then
    if subject.up > 0 and redis.call("SREM", voted, voter) == 1 then return 1 end
    if redis.call("EXISTS", voted) == 1 then return subject.down > 0 and -redis.call("SREM", downvoted, voter) or 0 end
    if known ~= 0 and closes > complete_at then return nil end
  end
  if known == 0 or (known == 1 and subject.up or subject.down) == 0 then return 0 end
  redis.call("SREM", known == 1 and voted or downvoted, voter)
  return known
end

-- Whether this action is among those that hold a vote already, given by their numbers with spaces between.
local function is_among(actions)
  for _, each in ipairs(split(actions)) do if each == case then return true end end
  return false
end

-- Notes that this action holds a vote. `others` are the numbers of the actions that hold it already, nil if none does.
local function hold(subject, value, others)
  local actions = others and others .. " " .. case or case
  redis.call("HSET", KEY.annulled .. subject.number, voter, string.format("%d %s", value, actions))
  add_place(KEY.cases .. case, 0, subject.member)
end

local _, with_annulled = count_keys(KEY.annulled, PER_SUBJECT) -- how many have annulled votes, of whomever

local function annul(number, known, archived)
  local held, actions
  if with_annulled > 0 then held, actions = held_vote(number, voter) end
  if held and is_among(actions) then return end
  local subject = find_subject(number, archived)
  if not subject then
    absent[#absent + 1] = number
    return
  end
  if subject.state == "deleted" or subject.poster == voter then return end
  if held then return hold(subject, held, actions) end

  local value = take_vote(subject, known)
  if not value then
    unsure[#unsure + 1] = number
  elseif value ~= 0 then
    hold(subject, value, nil)
    count_vote(subject, value, -1)
  end
end

for i = 13, #ARGV, PER_SUBJECT do annul(ARGV[i], tonumber(ARGV[i + 1]), ARGV[i + 2]) end
return {"annulled", absent, unsure, log_votes("votes_annulled")}
