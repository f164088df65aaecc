-- Functions that append entries with texts of an article, a comment, an action or a user to the log. The ids of such
-- entries are kept in `logged`, under the number or the user (`noted_by`): the deletion of the article, comment or user
-- removes the entries. The arguments after the number, or after the name, are those of `append_log`.
-- requires: prelude
-- from prelude: append_log(kind, actor, subject, ...) -> entry id
-- KEY   keys of this partition (a share of the data) by kind
--       logged: ids of the log's entries with texts, by number or user
local function append_noted(noted_by, kind, actor, subject, ...)
  local id = append_log(kind, actor, subject, ...)
  local noted = redis.call("HGET", KEY.logged, noted_by)
  redis.call("HSET", KEY.logged, noted_by, noted and noted .. " " .. id or id)
  return id
end

-- `type` is "article", "comment" or "action".
local function append_text(kind, actor, type, number, ...) --> entry id
  return append_noted(number, kind, actor, type .. ":" .. number, ...)
end

-- `name` is that of the user in lower case.
local function append_user_text(kind, actor, name, ...) --> entry id
  return append_noted("user:" .. name, kind, actor, "user:" .. name, ...)
end
