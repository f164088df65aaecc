-- Verify an article that the database has, but not as archived: it is in Redis, too. It is written back as it was before
-- it left Redis. Its poster's karma and the counts of archived articles are verified later.
-- requires: article_indexes, verify_prelude
-- from prelude: find_article(number)
-- from article_indexes: add_to_indexes(article)
-- from verify_prelude: name (what the key ends with: a number, a username or a group),
--   reply (the next cursor, then four values of each finding), report(where, found, expected, repair)
-- ARGV  1-8 time, settings of the site, whether to repair, and a name: see verify_prelude.lua; the name is a number
--       9 serial of `archived` at which the caller found the article in the database alone, or ""
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
