-- Verify an article that the database has and does not mark as archived (in the database only), so that Redis must have it,
-- too. If Redis lacks it, a repair writes it back as it was before it left Redis. Its poster's karma and the counts of
-- archived articles are verified later.
-- requires: article_indexes, verify_prelude
-- from prelude: find_article(number) -> fields by name | nil
-- from article_indexes: add_to_indexes(article)
-- from verify_prelude: name (what the key ends with: a number, a username or a group),
--   reply (the next cursor, then four values of each finding), report(where, found, expected, repair)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       archived: how many articles are only in the SQL database, and their greatest values
--       moving: articles about to leave Redis or just back: what the database has of them does not count
-- ARGV  1-6 for prelude.lua: 3 now (unix milliseconds)   7 "repair" to repair what is wrong, else ""
--       8 `name`, the last part of the key: a number
--       9 `serial` of `archived` when the caller found the article in the database alone, or ""
--       10 and on: field, value, ...
-- Reply {"0", then of each finding: key with field or member, found value, expected value, "repaired" or ""}
--       | {"moved"} if articles have left Redis or came back since: find out again
if (redis.call("HGET", KEY.archived, "serial") or "") ~= ARGV[9] then return {"moved"} end
local hash = KEY.article .. name
if redis.call("EXISTS", hash) == 1 or redis.call("SISMEMBER", KEY.moving, name) == 1 then return reply end
report(hash, nil, "there, as the database has the article, and not as archived", function()
  redis.call("HSET", hash, unpack(ARGV, 10))
  add_to_indexes(find_article(name))
end)
return reply
