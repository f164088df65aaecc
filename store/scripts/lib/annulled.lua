-- Annulled votes: votes that moderators have taken out of the counts. Each is held by one or more of their actions, and
-- counts again when no action holds it. The hash `annulled` of an article or a comment has by voter the value of the
-- vote (1, 0 or -1), then the numbers of the actions. The set `cases` of an action has the articles and comments with
-- such a vote.
-- requires: prelude
-- from prelude: member_of(number) -> 16 digits
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       annulled: votes on an article or comment that do not count, by voter
--       cases: articles and comments with a vote that an action annuls

-- The value of a voter's annulled vote on an article or a comment, and the numbers of the actions that hold it,
-- separated by spaces; nil if the vote is not annulled.
local function held_vote(number, voter) --> (1 | 0 | -1, numbers of actions) | nil
  local value, actions = string.match(redis.call("HGET", KEY.annulled .. number, voter) or "", "^(%-?%d) (.+)$")
  return tonumber(value), actions
end

-- Forgets the annulled votes on an article or a comment that is deleted.
local function forget_annulled(number)
  for _, held in ipairs(redis.call("HVALS", KEY.annulled .. number)) do
    for action in string.gmatch(held, " (%d+)") do
      redis.call("ZREM", KEY.cases .. action, member_of(number))
    end
  end
  redis.call("DEL", KEY.annulled .. number)
end
