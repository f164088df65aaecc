-- The function that sets a vote on an article or a comment.
-- An annulled vote is one that moderators have taken out of the counts.
-- requires: annulled
-- from prelude: window (milliseconds in which votes are open), now (unix milliseconds), expire_voters(prefix, subject)
-- from annulled: held_vote(number, voter) -> (1 | 0 | -1, numbers of actions) | nil
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       annulled: votes on an article or comment that do not count, by voter
--       voted: those who voted up   downvoted: those who voted down

-- Sets the vote of a voter (1, 0 or -1) on a subject while voting is open. The subject is an article or a comment as
-- `find_article` or `find_comment` reads it.
-- Returns {time, up, down}, the subject's time and the counts that it had before, and by how much its votes change;
-- `counts` of the subject has the new counts as text. If nothing was changed, returns nil and the reply that says why.
-- A vote that is annulled takes the new value, and still does not count: the change is 0, and `is_annulled` of the
-- subject is set.
local function cast_vote(subject, voter, vote) --> (counts before, change) | (nil, reply)
  -- The poster is a member as long as the set of voters exists. If it has expired, voting is closed, whatever the clock
  -- says: a new set would lack all earlier voters.
  local voted, downvoted = KEY.voted .. subject.number, KEY.downvoted .. subject.number
  local closes = subject.time + window
  local has_voters, is_up = unpack(redis.call("SMISMEMBER", voted, subject.poster, voter))
  if now > closes or has_voters == 0 then return nil, {"closed", string.format("%.0f", closes)} end
  if subject.locked == "1" then return nil, {"locked"} end
  if subject.state then return nil, {"hidden"} end

  local held, actions = held_vote(subject.number, voter)
  if held then
    if vote == held then return nil, {"same", voter, subject.flat} end
    redis.call("HSET", KEY.annulled .. subject.number, voter, string.format("%d %s", vote, actions))
    subject.is_annulled, subject.counts = true, {
      up = string.format("%.0f", subject.up), down = string.format("%.0f", subject.down),
    }
    return {time = subject.time, up = subject.up, down = subject.down}, 0
  end

  local earlier = is_up == 1 and 1 or subject.down > 0 and -redis.call("SISMEMBER", downvoted, voter) or 0
  if vote == earlier then return nil, {"same", voter, subject.flat} end
  if voter == subject.poster then return nil, {"forbidden"} end

  local before = {time = subject.time, up = subject.up, down = subject.down}
  -- A full store refuses what takes memory only as long as a script has removed nothing. So the earlier vote goes last.
  if vote == 1 then redis.call("SADD", voted, voter) end -- the set exists, with its expiry, as the poster is in it
  if vote == -1 then
    redis.call("SADD", downvoted, voter)
    expire_voters(KEY.downvoted, subject)
  end
  if earlier == 1 then redis.call("SREM", voted, voter) end
  if earlier == -1 then redis.call("SREM", downvoted, voter) end
  subject.up = subject.up + math.max(vote, 0) - math.max(earlier, 0)
  subject.down = subject.down - math.min(vote, 0) + math.min(earlier, 0)
  subject.counts = {up = string.format("%.0f", subject.up), down = string.format("%.0f", subject.down)}
  return before, vote - earlier
end

-- The hash of a subject as it was read, {field, value, ...}, with the counts that a vote has set.
local function counted_hash(subject) --> {field, value, ...}
  for i = 1, #subject.flat, 2 do
    local count = subject.counts[subject.flat[i]]
    if count then subject.flat[i + 1] = count end
  end
  return subject.flat
end
