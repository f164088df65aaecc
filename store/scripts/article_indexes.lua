-- Put after prelude.lua and before the scripts that add articles, regroup and delete them: what those share.

local function join(article, group)
  local rules = rules_of({group})
  for _, order in ipairs(rules.orders) do put_in_group(article, order, group, rules, value(article, order, SITE)) end
  redis.call("ZADD", GROUPS, 0, group)
end

local function leave(article, group)
  for _, order in ipairs(ORDERS) do redis.call("ZREM", GROUP .. group .. ":" .. order, article.member) end
  for order in pairs(WEIGHED) do redis.call("ZREM", COMING .. group .. ":" .. order, article.member) end
  if redis.call("EXISTS", GROUP .. group .. ":time") == 0 then redis.call("ZREM", GROUPS, group) end
end

-- Gives a new article its places: in every index, its groups, the poster's timeline.
local function list(article)
  rank(article)
  for _, group in ipairs(article.groups) do redis.call("ZADD", GROUPS, 0, group) end
  redis.call("ZADD", TIMELINE .. string.lower(article.poster), article.time, article.member)
  redis.call("ZADD", POSTERS, "GT", article.time, article.poster)
end

-- Writes a new article with its hash and its places.
local function publish(article, title, link, content, imported)
  local hash = ARTICLE .. article.number
  redis.call("HSET", hash, "title", title, "poster", article.poster, "time", article.time,
    "up", article.up, "down", article.down, "groups", table.concat(article.groups, " "))
  if link ~= "" then redis.call("HSET", hash, "link", link) end
  if content ~= "" then redis.call("HSET", hash, "content", content) end
  if imported > 0 then redis.call("HSET", hash, "imported", imported) end
  list(article)
end

-- Takes an article from its poster's timeline, and the poster from those who posted if it was their last.
local function retract(article)
  local timeline = TIMELINE .. string.lower(article.poster)
  redis.call("ZREM", timeline, article.member)
  local newest = redis.call("ZRANGE", timeline, 0, 0, "REV", "WITHSCORES")
  if newest[1] then
    redis.call("ZADD", POSTERS, newest[2], article.poster)
  else
    redis.call("ZREM", POSTERS, article.poster)
  end
end

-- Who voted up; nobody where voting has closed.
local function remember(article, voters)
  if article.time + window < now then return end
  for _, voter in ipairs(voters) do redis.call("SADD", VOTED .. article.number, voter) end
  expire(VOTED, article)
end

-- Numbers: store/numbering.py says what they are made of.
local END, FIRST_OF_STORIES = 2 ^ 43, 2 ^ 37 + 1

local function number_of(sequence, slot)
  if sequence >= END then error({err = "ERR no number is left for this time"}) end
  return string.format("%.0f", sequence * 1024 + slot)
end

-- The number of a post: later than all others of this partition.
local function next_number(slot)
  local last = tonumber(redis.call("GET", SEQUENCE) or 0)
  local sequence = math.max(2 * now, last + 2 - last % 2)
  local number = number_of(sequence, slot)
  redis.call("SET", SEQUENCE, string.format("%.0f", sequence))
  return number
end

-- The first sequence from one on that no story has. Those that stories have stand in NUMBERED without a gap from one
-- rank to another where the difference of their sequences is twice that of their ranks.
local function free_from(sequence)
  local rank = redis.call("ZRANK", NUMBERED, string.format("%.0f", sequence))
  if not rank then return sequence end
  local taken, beyond = 0, redis.call("ZCARD", NUMBERED) - rank
  while beyond - taken > 1 do
    local middle = math.floor((taken + beyond) / 2)
    local there = redis.call("ZRANGE", NUMBERED, rank + middle, rank + middle)[1]
    if tonumber(there) == sequence + 2 * middle then taken = middle else beyond = middle end
  end
  return sequence + 2 * beyond
end

-- The number of a story, by its own time.
local function story_number(time, slot)
  local sequence = free_from(math.max(2 * time + 1, FIRST_OF_STORIES))
  while redis.call("EXISTS", ARTICLE .. number_of(sequence, slot)) == 1 do -- NUMBERED was lost
    sequence = free_from(sequence + 2)
  end
  redis.call("ZADD", NUMBERED, sequence, string.format("%.0f", sequence))
  return number_of(sequence, slot)
end
