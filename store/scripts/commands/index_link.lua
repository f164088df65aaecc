-- Add an article to the index of its link, unless the link has changed since the caller read it.
-- requires: article_indexes
-- from prelude: find_article(number) -> fields by name | nil
-- from article_indexes: set_link_digest(article, digest)
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 number of the article   8 link as the caller read it
--       9 digest of the link without tracking parameters (store/links.py)
-- Reply {"indexed"} | {"changed"}
local article = find_article(ARGV[7])
if not article or article.link ~= ARGV[8] then return {"changed"} end
set_link_digest(article, ARGV[9])
return {"indexed"}
