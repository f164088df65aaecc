-- Read places of a page of a home (one listing of the articles of all groups that a user follows): those that are in some
-- listings of one partition. The order is GRAVITY, by votes that lose weight with age.
-- requires: gravity_search, home_places
-- from gravity_classes: CLASS (milliseconds between two classes), bases_of(class) -> (lowest, highest)
-- from gravity_index: time_bounds(weight, size) -> (first, last), weight(sign, base), value_of(base, time),
--   by_votes (the index of VOTES of the same listing),
--   index (the index of GRAVITY of the listing that is read; a script with several listings sets it anew),
--   budget (articles and classes that this step may still read)
-- from gravity_search: next_positions(beyond, count, resumed, known, limit) -> (positions, where it stopped | nil)
-- from home_places: hides (whether the viewer hides articles),
--   most_to_bound (articles of a listing to read at most to get to the bound),
--   HIDDEN_AT_ONCE (hidden articles that are passed over in the time in which another is read),
--   from (the value of the position beyond which places are wanted, nil without one),
--   from_member (the member of that position),
--   bound (the value of the place down to which to look, nil without one; of a page down only), add_beyond(member, value),
--   read_range(key, start, stop, ...) -> (number of places, members, values), bound_member (the member of the bound),
--   articles_left (articles that may still be read), shown_of_read(members) -> members,
--   stops ({value, member} of the places at which listings stopped that have more),
--   LAST (in place of a member: the place after all others of the same value), places, fresh,
--   wanted (how many places the page takes), last_wanted() -> {value, member} | nil, comes_first(one, other),
--   add_place(member, value), most_read (about how many articles to look at in all), reply_of_places(count),
--   each_listing(read) -> number of listings
-- KEYS  1 article:{p}:   2 hidden:{p}:NAME, the articles that the viewer hides
--       3-4 ranking:{p} and siteranked:{p}:, not used here
--       5 from here on: of each listing the indexes of GRAVITY, VOTES and TIME
-- ARGV  1-5 for gravity_index.lua: the instant (unix milliseconds), and parameters of the formula
--       6-14 for home_places.lua: the direction, how many places, the position beyond which they are,
--       whom the viewer blocks, a bound, and limits of the work
-- Reply {value and member of the place at which the script stopped, or "" and "" if there are no more; how many listings
--       it has read; member, value, ...}: the places that are shown, in the direction of the page
--
-- Each listing is read up to the last of the places that are wanted so far, so that most of them take few commands. A bound
-- is a place below which nothing is wanted. With fewer votes, an article has to be newer to stand there. So an article comes
-- before the bound only if it is one of the `TOP` with the most votes, or newer than an article with the votes of the next
-- one would be at the bound. Where these are few, they are read. Else those with fewer votes are read class by class. A
-- class has articles of similar votes by time, so those that come before the bound are one range of the index.
local FEW = 40 -- articles that are read by time at most, if none are read by votes
local TOP = 16 -- articles that are read by votes, if those to be read by time are more
local MANY = hides and FEW or most_to_bound -- articles that are read by time at most beside these
local MOST = (hides and HIDDEN_AT_ONCE or 1) * most_to_bound -- articles that are read at most by class, or down to a bound of 0
local ZEROS_AT_ONCE = 50 -- articles of value 0 that are read at once
local position = from and {value = from, member = from_member} or nil
local by_time
local marks_of_classes = {} -- {first, last} by class, see `marks_between`
local first_times = {} -- by votes as text, see `first_time_of`

-- The first posting time at which an article of these votes (as text) may stand at the bound; CLASS if there is none. Most
-- articles are passed over by it, as few votes are common: to compute a value takes five times as long.
local function first_time_of(votes) --> unix milliseconds
  local first = first_times[votes]
  if not first then
    first = votes - 1 > 0 and time_bounds(weight(1, votes - 1), bound) or CLASS
    first_times[votes] = first
  end
  return first
end

-- Adds those of some articles whose values are not below the bound. `votes` and `times` are lists as long as `members`, with
-- false for an article that one of the two indexes lacks.
local function add_to_bound(members, votes, times)
  for i, member in ipairs(members) do
    local first = votes[i] and times[i] and first_time_of(votes[i]) or CLASS
    if first < CLASS and tonumber(times[i]) >= first then
      local value = value_of(votes[i] - 1, tonumber(times[i]))
      if value >= bound then add_beyond(member, value) end
    end
  end
end

-- Reads the articles that are at least as new as an article of these votes at the bound. Returns false if they are more
-- than `most`.
local function read_newer(votes, most)
  local first = first_time_of(votes)
  if first == CLASS then return true end
  local count = redis.call("ZCOUNT", by_time, first, "+inf")
  if count > most then return false end
  if count == 0 then return true end
  local _, members, times = read_range(by_time, 0, count - 1, "REV") -- by rank, as a range by value takes twice as long
  if members[1] then add_to_bound(members, redis.call("ZMSCORE", by_votes, unpack(members)), times) end
  return true
end

-- Reads the articles in a range of the index of VOTES.
local function read_voted(...)
  local _, members, votes = read_range(by_votes, ...)
  if members[1] then add_to_bound(members, votes, redis.call("ZMSCORE", by_time, unpack(members))) end
end

-- Reads the articles of value 0 down to the bound, which is one of them.
local function read_zeros()
  local first, count, members = 0, nil, nil
  repeat
    count, members = read_range(by_votes, 1, 1, "BYSCORE", "REV", "LIMIT", first, ZEROS_AT_ONCE)
    for _, member in ipairs(members) do
      if member < bound_member then return end
      add_beyond(member, 0)
    end
    first = first + count
  until count < ZEROS_AT_ONCE
end

-- The first and the last mark of the articles of a class between the bound and the position.
local function marks_between(class)
  local marks = marks_of_classes[class]
  if not marks then
    local lowest, highest = bases_of(class)
    local first, last = time_bounds(weight(1, highest), bound), CLASS
    if from then last = select(2, time_bounds(weight(1, lowest), from)) end
    last = math.min(last, CLASS - 1)
    marks = {string.format("%.0f", class * CLASS + first), string.format("%.0f", class * CLASS + last)}
    marks_of_classes[class] = marks
  end
  return unpack(marks)
end

-- Reads the articles between the position and the bound: all of the `TOP` first ones by votes, and of the others those in the
-- classes up to the class of `next_one`, the article that follows them. Returns false if they are more than `MOST`.
local function read_classes(next_one)
  local members = redis.call("ZRANGE", by_votes, 0, TOP - 1, "REV")
  local next_class = math.floor(redis.call("ZSCORE", index, next_one) / CLASS)
  for class = next_class, 1, -1 do
    local first, last = marks_between(class)
    for _, member in ipairs(redis.call("ZRANGE", index, first, last, "BYSCORE", "LIMIT", 0, MOST + 1)) do
      members[#members + 1] = member
    end
    if #members > MOST then return false end
  end
  articles_left = articles_left - next_class -- a command for each
  local shown = shown_of_read(members)
  if shown[1] then
    add_to_bound(shown, redis.call("ZMSCORE", by_votes, unpack(shown)), redis.call("ZMSCORE", by_time, unpack(shown)))
  end
  return true
end

-- Reads all articles of a listing down to the bound, which is above 0. Returns false if they may be many.
local function read_to_positive_bound()
  local votes = redis.call("ZRANGE", by_votes, 0, 0, "REV", "WITHSCORES")[2]
  if not votes or read_newer(votes, FEW) then return true end
  local next_one, next_votes = unpack(redis.call("ZRANGE", by_votes, TOP, TOP, "REV", "WITHSCORES"))
  if not next_one or tonumber(next_votes) < 2 or read_newer(next_votes, MANY) then
    read_voted(0, TOP - 1, "REV")
    return true
  end
  return read_classes(next_one)
end

-- Reads all articles of a listing down to the bound, which is 0. Returns false if that may be many.
local function read_to_zero_bound()
  if redis.call("ZCOUNT", by_votes, 2, "+inf") > MOST then return false end
  read_voted("+inf", 2, "BYSCORE", "REV")
  read_zeros()
  return true
end

-- Reads all articles of a listing down to the bound. Returns false if that may be many.
local function read_to_bound()
  if not bound or bound < 0 then return false end
  local is_read = bound > 0 and read_to_positive_bound() or bound == 0 and read_to_zero_bound()
  if is_read then stops[#stops + 1] = {bound, bound > 0 and LAST or bound_member} end
  return is_read
end

-- Raises the bound to the last place that is wanted, once twice as many are known: those beyond it are not needed any more.
local function raise_bound()
  if #places + #fresh < 2 * wanted then return end
  local last = last_wanted()
  if not last or not comes_first(last, {bound, bound_member}) then return end
  bound, bound_member, marks_of_classes, first_times = last[1], last[2], {}, {}
  local before = {}
  for _, place in ipairs(places) do
    if not comes_first(last, place) then before[#before + 1] = place end
  end
  places = before
end

-- Searches a listing for its first places, as many as are wanted, and adds them.
local function search_listing()
  local last = last_wanted()
  local most = bound and math.max(wanted, most_to_bound) or wanted -- positions to find
  local limit = last and math.max(last[1], bound or last[1]) or bound -- the value beyond which nothing is wanted
  budget = math.huge -- the search in a listing takes one step
  local resumed, known = nil, {} -- no earlier step has begun this search
  local found, furthest = next_positions(position, most, resumed, known, limit), nil
  for _, place in ipairs(found) do
    add_place(place.member, string.format("%.17g", place.value))
    local each = {place.value, place.member}
    if not furthest or comes_first(furthest, each) then furthest = each end
  end
  articles_left = articles_left - most_read / 10 -- what a search costs, whatever it finds
  if #found >= most then
    stops[#stops + 1] = furthest
  elseif limit then
    stops[#stops + 1] = {limit, LAST}
  end
end

return reply_of_places(each_listing(function(i)
  index, by_votes, by_time = KEYS[i], KEYS[i + 1], KEYS[i + 2]
  if not read_to_bound() and redis.call("EXISTS", by_votes) == 1 then search_listing() end
  if bound then raise_bound() end
end))
