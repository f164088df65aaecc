-- The greatest values of archived articles, which are in the SQL database only. Of each listing the hash `archived` has
-- one: a page asks the database only if it comes down to that value. A listing is one order of the site or of a group, such as
-- `hot` or `group:NAME:hot`.
-- requires: prelude
-- from prelude: ORDERS (of articles), order_value(article, order, weights) -> number
-- KEY   keys of this partition (a share of the data) by kind
--       archived: how many articles are only in the SQL database, and their greatest values

-- Notes the greatest value of the archived articles of a listing. This is done for all orders, also for those that the
-- store does not maintain: the database has them, too.
local function note_greatest(listing, value)
  local known = redis.call("HGET", KEY.archived, "top:" .. listing)
  if known and value <= tonumber(known) then return end
  redis.call("HSET", KEY.archived, "top:" .. listing, string.format("%.17g", value))
end

-- Notes the values of an article in all orders of the site (`prefix` is "") or of a group (group:NAME:), by these
-- weights. Values by GRAVITY change with time, so they are not noted.
local function note_orders(article, prefix, weights)
  for _, order in ipairs(ORDERS) do
    if order ~= "gravity" then note_greatest(prefix .. order, order_value(article, order, weights)) end
  end
end
