-- What the hash `archived` has of the values of archived articles, by which pages know whether to ask the database.
-- requires: prelude
-- from prelude: ORDERS (of articles), order_value(article, order, weights)

-- Notes the greatest value of the archived articles of a listing. This is done for all orders, also for those that the
-- store does not maintain: the database has them, too.
local function note_greatest(listing, value)
  local known = redis.call("HGET", KEY.archived, "top:" .. listing)
  if known and value <= tonumber(known) then return end
  redis.call("HSET", KEY.archived, "top:" .. listing, string.format("%.17g", value))
end

-- Notes the values of an article in all orders of the site or of a group, by these weights.
local function note_orders(article, prefix, weights)
  for _, order in ipairs(ORDERS) do
    if order ~= "gravity" then note_greatest(prefix .. order, order_value(article, order, weights)) end
  end
end
