-- Put after home.lua and before the scripts that add articles, regroup and delete them: what those share.

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

-- Numbers carry the slot of their poster: sequence x 1024 + slot.
local function number_of(slot)
  return string.format("%.0f", redis.call("INCR", SEQUENCE) * 1024 + slot)
end
