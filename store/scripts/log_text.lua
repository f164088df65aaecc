-- Appends an entry that has texts of an article or a comment (`type`), and notes its id: a deletion removes the entry.
-- Follows prelude.lua in scripts.
local function append_text(kind, actor, type, number, ...)
  local id = append_log(kind, actor, type .. ":" .. number, ...)
  local noted = redis.call("HGET", LOGGED, number)
  redis.call("HSET", LOGGED, number, noted and noted .. " " .. id or id)
  return id
end
