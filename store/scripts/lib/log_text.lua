-- Appends an entry of the log that has texts of an article or a comment, and notes its id: a deletion of the article
-- or comment removes the entry. `type` is "article" or "comment"; the other arguments are those of `append_log`.
-- requires: prelude
local function append_text(kind, actor, type, number, ...)
  local id = append_log(kind, actor, type .. ":" .. number, ...)
  local noted = redis.call("HGET", KEY.logged, number)
  redis.call("HSET", KEY.logged, number, noted and noted .. " " .. id or id)
  return id
end
