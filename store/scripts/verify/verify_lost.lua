-- Verify an article that the database has and does not mark as archived (in the database only): so Redis must have it,
-- too. If Redis lacks it, a repair writes it back as it was before it left Redis. Its poster's karma and the counts of
-- archived articles are verified later.
-- requires: article_indexes, verify_prelude
-- from prelude: find_article(number) -> fields by name | nil
-- from article_indexes: add_to_indexes(article)
-- from verify_prelude: name (what the key ends with: a number, a username or a group),
--   reply (the next cursor, then four values of each finding), report(where, found, expected, repair)
-- KEY   this partition's keys by name; to some a number or a name is appended (see registry.py)
--       archived: how many articles are only in the SQL database, and their greatest values
--       moving: articles about to leave Redis or just back: what the database has of them does not count
-- ARGV  1-8 time, settings of the site, whether to repair, and a name: see verify_prelude.lua; the name is a number
--       9 `serial` of `archived` when the caller found the article in the database alone, or ""
--       10 and on: field, value, ...
-- Reply see verify_prelude.lua; {"moved"} if articles have left Redis or came back since: find out again
if (redis.call("HGET", KEY.archived, "serial") or "") ~= ARGV[9] then return {"moved"} end
local hash = KEY.article .. name
if redis.call("EXISTS", hash) == 1 or redis.call("SISMEMBER", KEY.moving, name) == 1 then return reply end
report(hash, nil, "there, as the database has the article, and not as archived", function()
  redis.call("HSET", hash, unpack(ARGV, 10))
  add_to_indexes(find_article(name))
end)
return reply
