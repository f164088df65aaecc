-- Activate indexes that were rebuilt: from now on the site has these orders (such as HOT), or a group has new weights
-- (the numbers in the formulas of orders), and the indexes built by them.
-- requires: prelude
-- from prelude: WEIGHTED_BY (orders whose index depends on a weight), parse_weights(text) -> weights by name,
--   append_log(kind, actor, subject, ...) -> entry id, publish(kind, number, name, id, ...)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       ranking: the orders to write, and the weights of groups that have their own
--       coming: a group's indexes by its new weights, while they are built
--       siteranked: indexes by the site's weights, of groups that have weights of their own
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 group, or "" for the orders of the site
--       8 token of the rebuild, as `ranking` has it, or "" if no index was rebuilt
--       9 the orders, or the weights of the group, separated by spaces; "" removes the field
--       10 "dropping" if the rebuild goes on after this because indexes are still to be dropped, else ""
-- Reply {"activated"}, also if this rebuild was activated before | {"stale"} if another rebuild has begun
local own_token, new_value = ARGV[8], ARGV[9]
local group = ARGV[7]
local pending = group == "" and "REINDEX" or "next:" .. group -- field of `ranking` with the token of the rebuild
local active = group == "" and "ORDERS" or group -- its field with the orders or weights that are in use
if own_token ~= "" then
  local token = redis.call("HGET", KEY.ranking, pending)
  local is_repeated = not token and (redis.call("HGET", KEY.ranking, active) or "") == new_value
  if is_repeated then return {"activated"} end
  if token ~= own_token then return {"stale"} end
end

for order in pairs(group ~= "" and own_token ~= "" and WEIGHTED_BY or {}) do
  local old, new = KEY.group .. group .. ":" .. order, KEY.coming .. group .. ":" .. order
  if redis.call("EXISTS", new) == 1 then
    redis.call("UNLINK", old) -- frees memory in the background; RENAME might block
    redis.call("RENAME", new, old)
  end
end
for order, weight in pairs(group ~= "" and WEIGHTED_BY or {}) do -- `rawget`: its own weights, without those of the site as defaults
  if not rawget(parse_weights(new_value), weight) then redis.call("UNLINK", KEY.siteranked .. group .. ":" .. order) end
end
if own_token ~= "" and ARGV[10] == "" then redis.call("HDEL", KEY.ranking, pending) end
if new_value == "" then
  redis.call("HDEL", KEY.ranking, active)
else
  redis.call("HSET", KEY.ranking, active, new_value)
end
local id = append_log("ranked", "", "", "group", group)
publish("ranked", 0, "-", id, group) -- "-": the event names nobody
return {"activated"}
