-- Functions that store in the hash of a user (the key `account`) who has voted the user's texts up. They do nothing if there is
-- no such user.

-- Adds a voter to the field `upvoters` of the user, which has the names of the first ten. A vote costs one read and, until the
-- field is full, one write.
local function add_upvoter(account, voter)
  local MOST_KEPT = 10 -- as rules of a site ask for ten at most
  local name, known = unpack(redis.call("HMGET", account, "name", "upvoters"))
  if not name or known and string.find(" " .. known .. " ", " " .. voter .. " ", 1, true) then return end
  local _, count = string.gsub(known or "", "%S+", "")
  if count < MOST_KEPT then redis.call("HSET", account, "upvoters", known and known .. " " .. voter or voter) end
end

-- Takes a voter whose upvotes count no more off the field `upvoters`. Costs one read, and one write if the voter is in it.
local function remove_upvoter(account, voter)
  local known, kept = redis.call("HGET", account, "upvoters") or "", {}
  if not string.find(" " .. known .. " ", " " .. voter .. " ", 1, true) then return end
  for name in string.gmatch(known, "%S+") do if name ~= voter then kept[#kept + 1] = name end end
  if kept[1] then
    redis.call("HSET", account, "upvoters", table.concat(kept, " "))
  else
    redis.call("HDEL", account, "upvoters")
  end
end
