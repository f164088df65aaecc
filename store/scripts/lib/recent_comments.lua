-- The table `recent` with functions that keep the newest visible comments, by time. A place is `all`, for the whole
-- site, or group:NAME; each has an index `recent` with a limited number of comments. Once older ones were dropped,
-- `floors` has the time of the newest dropped one: only later comments are in the index.
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       recent: newest visible comments of the site or a group   floors: the times up to which `recent` lacks comments
--       relisting: articles whose comments are entering or leaving `recent`
--       tree: an article's comments by branch path
local recent = {}
do -- a script has at most 200 local variables
  local MOST_RECENT, MOST_RECENT_OF_GROUP = 10000, 1000 -- comments in the place `all`, and in that of a group
  recent.AT_ONCE = 1000 -- comments of an article that enter or leave a place in one step

  function recent.most_in(place)
    return place == "all" and MOST_RECENT or MOST_RECENT_OF_GROUP
  end

  function recent.places_of(groups)
    local places = {"all"}
    for i, group in ipairs(groups) do places[i + 1] = "group:" .. group end
    return places
  end

  -- Takes the oldest comments out of a place that has too many.
  local function cut_recent(place)
    local index = KEY.recent .. place
    local excess = redis.call("ZCARD", index) - recent.most_in(place)
    if excess <= 0 then return end
    local taken = redis.call("ZPOPMIN", index, excess) -- {member, time, ...}
    local floor = taken[#taken]
    redis.call("ZREMRANGEBYSCORE", index, "-inf", floor)
    redis.call("HSET", KEY.floors, place, floor)
  end

  -- Adds a comment to the site and to some groups, where it is new enough.
  function recent.add(comment, groups)
    local places = recent.places_of(groups)
    local floors = redis.call("HMGET", KEY.floors, unpack(places))
    for i, place in ipairs(places) do
      if comment.time > (tonumber(floors[i]) or 0) then
        redis.call("ZADD", KEY.recent .. place, comment.time, comment.member)
        cut_recent(place)
      end
    end
  end

  -- The places that the comments of an article (its number as text) enter or leave just now.
  local function relisted_places_of(article)
    local places = {}
    for _, noted in ipairs(redis.call("ZRANGE", KEY.relisting, 0, -1)) do
      local number, place = string.match(noted, "^(%d+) (.*)$")
      if number == article then places[#places + 1] = place end
    end
    return places
  end

  function recent.is_relisting(article)
    return relisted_places_of(article)[1] ~= nil
  end

  -- The places of an article in these groups, and those that its comments enter or leave just now.
  function recent.all_places_of(article, groups)
    local places = recent.places_of(groups)
    for _, place in ipairs(relisted_places_of(article)) do places[#places + 1] = place end
    return places
  end

  -- Takes a comment of an article in some groups out of all places.
  function recent.remove(comment, groups)
    for _, place in ipairs(recent.all_places_of(comment.article, groups)) do
      redis.call("ZREM", KEY.recent .. place, comment.member)
    end
  end

  -- Notes that the comments of an article enter or leave some places: relist_comments.lua brings them there, or takes them
  -- out, in steps.
  function recent.note(article, places)
    if redis.call("EXISTS", KEY.tree .. article) == 0 then return false end
    for _, place in ipairs(places) do redis.call("ZADD", KEY.relisting, now, article .. " " .. place) end -- `now`: of prelude.lua
    return true
  end

  -- Of some comments, each as {member, time}: with `is_listed` those that are not in a place although they are new enough for
  -- it; else those that are in it.
  local function misplaced(comments, place, is_listed)
    local floor, found = tonumber(redis.call("HGET", KEY.floors, place)) or 0, {}
    for _, each in ipairs(comments) do
      local is_there = redis.call("ZSCORE", KEY.recent .. place, each[1]) and true or false
      if is_there ~= is_listed and (is_there or each[2] > floor) then found[#found + 1] = each end
    end
    return found
  end

  -- Brings some comments, each as {member, time}, into a place, or without `is_listed` takes them out; at most `limit`. Returns
  -- whether some are still to be moved.
  function recent.relist(comments, place, is_listed, limit)
    local moving, index = misplaced(comments, place, is_listed), KEY.recent .. place
    for i = 1, math.min(#moving, limit) do
      if is_listed then
        redis.call("ZADD", index, moving[i][2], moving[i][1])
      else
        redis.call("ZREM", index, moving[i][1])
      end
    end
    cut_recent(place)
    return #moving > limit
  end
end
