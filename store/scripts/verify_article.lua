-- Verify one article: its hash, its voters while voting is open, its place in every sorted set that it belongs in.
-- ARGV  8 number   9 orders that are whole even while a reindex goes on, or was interrupted, space between
local article = examine(name)
if not article then return reply end

for _, field in ipairs(article.torn) do
  report(article.hash .. " " .. field, article.fields[field], "a usable " .. field)
end
if article.torn[1] then return reply end

local account = USER .. string.lower(article.poster)
if redis.call("HGET", account, "name") ~= article.poster then
  report(article.hash .. " poster", article.poster, "a user of this partition")
end

local voted, downvoted = VOTED .. article.number, DOWNVOTED .. article.number
for _, voter in ipairs(article.both or {}) do
  report(downvoted .. " " .. voter, "there", "in one set only", function() redis.call("SREM", downvoted, voter) end)
end
if article.lacks_poster then
  report(voted .. " " .. article.poster, nil, "there", function() redis.call("SADD", voted, article.poster) end)
end
if now <= article.closes and not article.counted then report(voted, nil, "there while voting is open") end
expect_number(article.hash, "up", article.fields.up, article.up)
expect_number(article.hash, "down", article.fields.down, article.down)
expect_expiry(voted, article.closes + GRACE)
expect_expiry(downvoted, article.closes + GRACE)

local ranking, kept, whole = read_ranking(article.groups), {}, {}
for _, order in ipairs(ranking.orders) do kept[order] = true end
for _, order in ipairs(split(ARGV[9])) do whole[order] = true end
local is_rebuilt = redis.call("HEXISTS", RANKING, "REINDEX") == 1

local function expect_places(order)
  expect_place(INDEX[order], article.member, kept[order] and order_value(article, order, SITE_WEIGHTS))
  for _, group in ipairs(article.groups) do
    local place = kept[order] and order_value(article, order, ranking.own[group] or SITE_WEIGHTS)
    expect_place(GROUP .. group .. ":" .. order, article.member, place)
  end
end

for _, order in ipairs(ORDERS) do
  if not is_rebuilt or kept[order] and whole[order] then expect_places(order) end
end
for _, group in ipairs(article.groups) do expect_place(GROUPS, group, 0) end
expect_place(GOOD, article.member, article.up - article.down >= good_votes and article.time or nil)
expect_place(TIMELINE .. string.lower(article.poster), article.member, article.time)
return reply
