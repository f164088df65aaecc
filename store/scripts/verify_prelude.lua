-- Put after prelude.lua and before every script that verifies: reporting what is broken, and mending it in the same step by
-- what it is derived from. What others write meanwhile is seen before or after, never in between.
-- ARGV  7 "mend" or ""   8 name of the thing, as its key ends
-- Reply {cursor to go on from, or "0"; then for each finding: where, what is there, what should be, "mended" or ""}
local mending, name = ARGV[7] == "mend", ARGV[8]
local SLACK = 10000 -- milliseconds that a command may have been on its way after its sender looked at the clock

local reply = {"0"}

local function text(value)
  return type(value) == "number" and string.format("%.17g", value) or value or "nothing"
end

-- `mend` puts it right; it is nil where nothing tells what is right.
local function report(where, is, should, mend)
  if mending and mend then mend() end
  for _, each in ipairs({where, text(is), text(should), mending and mend and "mended" or ""}) do
    reply[#reply + 1] = each
  end
end

local function expect_place(index, member, value)
  local is = redis.call("ZSCORE", index, member)
  if is and tonumber(is) == value or not is and not value then return end
  report(index .. " " .. member, is, value, function()
    if value then redis.call("ZADD", index, value, member) else redis.call("ZREM", index, member) end
  end)
end

local function expect_number(hash, field, is, value)
  if tonumber(is) == value then return end
  report(hash .. " " .. field, is, value, function() redis.call("HSET", hash, field, value) end)
end

-- A key is gone at an instant.
local function expect_expiry(key, instant)
  local left, most = redis.call("PTTL", key), instant - now
  if left == -2 or left ~= -1 and left <= most + SLACK then return end
  report(key .. " TTL", left == -1 and "none" or left, "at most " .. text(math.max(most, 0)), function()
    redis.call("PEXPIRE", key, most)
  end)
end

local WHOLE = "^%d+$"
local FIELDS = {"title", "poster", "time", "groups", "imported", "edited", "up", "down"}
local PATTERNS = {
  title = ".", poster = "^[%w_-]+$", time = WHOLE, groups = "^[%l%d_ -]*$", imported = WHOLE, edited = WHOLE,
  up = WHOLE, down = WHOLE,
}

local function is_usable(field, value)
  if not value then return field == "imported" or field == "edited" end
  return string.find(value, PATTERNS[field]) ~= nil
end

-- What the voters tell of an article's votes: nobody is in both sets, and the poster is in the first.
local function count(article)
  local voted, downvoted = VOTED .. article.number, DOWNVOTED .. article.number
  article.both = redis.call("SINTER", voted, downvoted)
  article.lacks_poster = redis.call("SISMEMBER", voted, article.poster) == 0
  article.up = redis.call("SCARD", voted) + (article.lacks_poster and 1 or 0) + (tonumber(article.fields.imported) or 0)
  article.down = redis.call("SCARD", downvoted) - #article.both
end

-- An article with its votes as they should be, its hash's fields, and which of those cannot be used; nil when there is
-- none. While voting is open the voters tell the votes, and then only the hash does.
local function examine(number)
  local hash, fields, torn = ARTICLE .. number, {}, {}
  for i, found in ipairs(redis.call("HMGET", hash, unpack(FIELDS))) do fields[FIELDS[i]] = found end
  if not fields.poster and redis.call("EXISTS", hash) == 0 then return nil end

  local closes = (tonumber(fields.time) or 0) + window
  local counted = now <= closes and redis.call("EXISTS", VOTED .. number) == 1
  for _, field in ipairs(FIELDS) do
    local told = counted and (field == "up" or field == "down")
    if not told and not is_usable(field, fields[field]) then torn[#torn + 1] = field end
  end
  local article = {
    number = number, member = string.format("%016.0f", tonumber(number)), hash = hash, fields = fields, torn = torn,
    poster = fields.poster, time = tonumber(fields.time), groups = split(fields.groups or ""), closes = closes,
    counted = counted, up = tonumber(fields.up), down = tonumber(fields.down),
  }
  if counted and not torn[1] then count(article) end
  return article
end
