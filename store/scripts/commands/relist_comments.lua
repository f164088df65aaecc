-- Bring some comments of an article into the index `recent` of a place, which is the whole site or a group, or take them
-- out, as its state and its groups say. The caller repeats the script until none is left.
-- requires: comments
-- from prelude: require_writable()
-- from recent_comments: recent.places_of(groups), recent.most_in(place), recent.relist(comments, place, is_listed, limit),
--   recent.AT_ONCE
-- from comments: find_article_info(number) -> {poster, time, state, locked, groups} | nil, recent.newest(article, count)
-- flags: allow-oom
-- KEY   keys of this partition (a share of the data) by kind
--       relisting: articles whose comments are entering or leaving `recent`
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of partitions   8 number of the article
--       9 the place: `all` for the whole site, or `group:` and a name
-- Reply 1 if some are left, else 0
require_writable()
local article, place = ARGV[8], ARGV[9]
local article_info = find_article_info(article)

local function is_listed_here()
  if article_info.state then return false end
  for _, each in ipairs(recent.places_of(article_info.groups)) do if each == place then return true end end
  return false
end

local wanted = recent.most_in(place) + 1 -- one too many: when it is cut off, the place is known to lack older comments
if article_info and recent.relist(recent.newest(article, wanted), place, is_listed_here(), recent.AT_ONCE) then return 1 end
redis.call("ZREM", KEY.relisting, article .. " " .. place)
return 0
