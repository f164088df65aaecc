-- Restore annulled votes on an article or a comment from a backup, unless it is missing.
-- requires: prelude
-- from prelude: member_of(number) -> 16 digits
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       annulled: votes on an article or comment that do not count, by voter
--       cases: articles and comments with a vote that an action annuls
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of the article or comment
--       8 and on, for each vote: voter, then "VALUE ACTION ACTION ...", the vote and the numbers of the actions that
--       annul it
local number = ARGV[7]
if redis.call("EXISTS", KEY.article .. number, KEY.comment .. number) == 0 then return end
redis.call("HSET", KEY.annulled .. number, unpack(ARGV, 8))
for i = 9, #ARGV, 2 do
  for case in string.gmatch(ARGV[i], " (%d+)") do
    redis.call("ZADD", KEY.cases .. case, 0, member_of(number))
  end
end
