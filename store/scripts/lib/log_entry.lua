-- A function that appends an entry to the log of a partition, publishes it and returns its id: for changes of
-- users, follows and rankings, and for repairs. `at` is in unix milliseconds, `actor` a username or "".
local function log_entry(log, events, at, kind, actor, subject, ...) --> entry id
  local id = redis.call("XADD", log, "*", "kind", kind, "at", at, "actor", actor, "subject", subject, ...)
  redis.call("PUBLISH", events, kind .. " 0 " .. (actor ~= "" and actor or "-") .. " " .. id)
  return id
end
