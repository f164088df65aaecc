-- Annulled votes: votes that do not count, as actions of moderators hold them. A vote counts again when no action holds it.
-- `annulled` of an article or a comment has the value of each such vote, then the numbers of the actions; `cases` has of an
-- action the articles and comments with a vote that it holds.
-- requires: prelude

-- The value of the vote of a voter that is annulled, and the actions that hold it; nil if none does.
local function held_vote(number, voter)
  local value, cases = string.match(redis.call("HGET", KEY.annulled .. number, voter) or "", "^(%-?%d) (.+)$")
  return tonumber(value), cases
end

-- Forgets the annulled votes on an article or a comment that is deleted.
local function forget_annulled(number)
  for _, held in ipairs(redis.call("HVALS", KEY.annulled .. number)) do
    for case in string.gmatch(held, " (%d+)") do
      redis.call("ZREM", KEY.cases .. case, string.rep("0", 16 - #number) .. number)
    end
  end
  redis.call("DEL", KEY.annulled .. number)
end
