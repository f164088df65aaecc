-- Functions that write an article, add it to the indexes and remove it. Follows prelude.lua in scripts that post,
-- edit, import, archive, restore, regroup and delete articles. It takes no KEYS and no ARGV of its own. Functions are defined
-- again in each call of a script: prelude.lua has only those of a vote.

local function article_hash(number)
  return redis.call("HGETALL", ARTICLE .. number)
end

-- How many archived articles a user has, and when the newest was posted (unix milliseconds; 0 without any).
local function archived_of(name)
  local count, newest = string.match(redis.call("HGET", ARCHIVED, "user:" .. name) or "", "^(%d+) (%d+)")
  return tonumber(count or 0), tonumber(newest or 0)
end

-- The serial number makes every value another one, so that unarchive.lua sees each change.
local function set_archived_of(name, count, newest)
  local field, serial = "user:" .. name, redis.call("HINCRBY", ARCHIVED, "serial", 1)
  if count == 0 then
    redis.call("HDEL", ARCHIVED, field)
  else
    redis.call("HSET", ARCHIVED, field, string.format("%.0f %.0f %.0f", count, newest, serial))
  end
end

local function add_to_group(article, group)
  local ranking = read_ranking({group})
  for _, order in ipairs(ranking.orders) do
    set_in_group(article, order, group, ranking, order_value(article, order, SITE_WEIGHTS))
  end
  redis.call("ZADD", GROUPS, 0, group)
end

local function remove_from_group(article, group)
  for _, order in ipairs(ORDERS) do redis.call("ZREM", GROUP .. group .. ":" .. order, article.member) end
  for order in pairs(WEIGHTED_BY) do redis.call("ZREM", NEXT_GROUP .. group .. ":" .. order, article.member) end
  if redis.call("EXISTS", GROUP .. group .. ":time") == 1 then return end
  if redis.call("HEXISTS", ARCHIVED, "count:group:" .. group) == 0 then redis.call("ZREM", GROUPS, group) end
end

-- The index of a link. `link_digest` is that of the link's canonical form (see store/links.py), or "" or nil of no link.
local function add_to_link(article)
  if (article.link_digest or "") == "" then return end
  redis.call("ZADD", LINKS .. article.link_digest, article.time, article.member)
end

local function remove_from_link(article)
  if article.link_digest then redis.call("ZREM", LINKS .. article.link_digest, article.member) end
end

-- Moves an article to the index of another link.
local function set_link_digest(article, digest)
  remove_from_link(article)
  article.link_digest = digest
  if digest == "" then
    redis.call("HDEL", ARTICLE .. article.number, "link_digest")
  else
    redis.call("HSET", ARTICLE .. article.number, "link_digest", digest)
  end
  add_to_link(article)
end

-- Adds a new article to every index, its groups, its link, and the timeline of its poster.
local function add_to_indexes(article)
  update_indexes(article)
  for _, group in ipairs(article.groups) do redis.call("ZADD", GROUPS, 0, group) end
  add_to_link(article)
  redis.call("ZADD", TIMELINE .. string.lower(article.poster), article.time, article.member)
  redis.call("ZADD", NEWEST_POSTS, "GT", article.time, article.poster)
end

-- Writes the hash of a new article and adds it to the indexes.
local function write_article(article, title, link, content, imported)
  local hash = ARTICLE .. article.number
  redis.call("HSET", hash, "title", title, "poster", article.poster, "time", article.time,
    "up", article.up, "down", article.down, "groups", table.concat(article.groups, " "))
  if link ~= "" then redis.call("HSET", hash, "link", link, "link_digest", article.link_digest) end
  if content ~= "" then redis.call("HSET", hash, "content", content) end
  if imported > 0 then redis.call("HSET", hash, "imported", imported) end
  add_to_indexes(article)
end

-- The fields and values of a new article in the log.
local function entry_of(article, title, link, content)
  return "title", title, "link", link, "content", content, "groups", table.concat(article.groups, " "),
    "time", article.time, "up", article.up, "down", article.down
end

-- Removes an article from the timeline of its poster, and a poster without any other article from NEWEST_POSTS.
local function remove_from_timeline(article)
  local name = string.lower(article.poster)
  redis.call("ZREM", TIMELINE .. name, article.member)
  local newest = redis.call("ZRANGE", TIMELINE .. name, 0, 0, "REV", "WITHSCORES")
  local archived, newest_archived = archived_of(name)
  if newest[1] or archived > 0 then
    redis.call("ZADD", NEWEST_POSTS, math.max(tonumber(newest[2] or 0), newest_archived), article.poster)
  else
    redis.call("ZREM", NEWEST_POSTS, article.poster)
  end
end

-- Adds voters to the set of upvotes, unless voting is closed.
local function add_voters(article, voters)
  if article.time + window < now then return end
  for _, voter in ipairs(voters) do redis.call("SADD", VOTED .. article.number, voter) end
  expire_voters(VOTED, article)
end

-- Article numbers: see `sequence_of` in store/records.py.
local MAX_SEQUENCE, FIRST_OF_STORIES = 2 ^ 43, 2 ^ 37 + 1

local function make_number(sequence, slot)
  if sequence >= MAX_SEQUENCE then error({err = "ERR no number is left for this time"}) end
  return string.format("%.0f", sequence * 1024 + slot)
end

-- The number of a new post: higher than that of any earlier post of this partition.
local function next_number(slot)
  local last = tonumber(redis.call("GET", SEQUENCE) or 0)
  local sequence = math.max(2 * now, last + 2 - last % 2)
  local number = make_number(sequence, slot)
  redis.call("SET", SEQUENCE, string.format("%.0f", sequence))
  return number
end

-- The first sequence at or after `sequence` that nothing imported has. NUMBERED holds those that are taken; between two
-- ranks all are taken if the difference of the sequences is twice that of the ranks. So a binary search finds the gap.
local function first_free_sequence(sequence)
  local rank = redis.call("ZRANK", NUMBERED, string.format("%.0f", sequence))
  if not rank then return sequence end
  local taken, beyond = 0, redis.call("ZCARD", NUMBERED) - rank
  while beyond - taken > 1 do
    local middle = math.floor((taken + beyond) / 2)
    local found = redis.call("ZRANGE", NUMBERED, rank + middle, rank + middle)[1]
    if tonumber(found) == sequence + 2 * middle then taken = middle else beyond = middle end
  end
  return sequence + 2 * beyond
end

-- The number of an imported story or comment, derived from its posting time. `comments` is the prefix of comments' keys.
local function story_number(time, slot, comments)
  local sequence = first_free_sequence(math.max(2 * time + 1, FIRST_OF_STORIES))
  local number = make_number(sequence, slot)
  while redis.call("EXISTS", ARTICLE .. number, comments .. number) > 0 do -- NUMBERED was lost
    sequence = first_free_sequence(sequence + 2)
    number = make_number(sequence, slot)
  end
  redis.call("ZADD", NUMBERED, sequence, string.format("%.0f", sequence))
  return number
end
