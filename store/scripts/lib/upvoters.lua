-- The function that keeps in the hash of a user (`account`) by whom the user was upvoted. It does nothing if there is no such
-- user.

-- Adds who has upvoted something of the user to the field `upvoters`, which has the names of the first ten. One that is
-- full costs one read, and no vote more than a write beside it.
local function add_upvoter(account, voter)
  local name, known = unpack(redis.call("HMGET", account, "name", "upvoters"))
  if not name or known and string.find(" " .. known .. " ", " " .. voter .. " ", 1, true) then return end
  local _, count = string.gsub(known or "", "%S+", "")
  if count < 10 then redis.call("HSET", account, "upvoters", known and known .. " " .. voter or voter) end
end
