-- The function that keeps in the hash of a user (`account`) whether moderators have upheld the user's flags. It does nothing if
-- there is no such user.

-- Sets what has become of the user's flag on the article or comment with a number: "+" upheld, "-" overruled, or "" not
-- decided any more. The field `flag_outcomes` has the last ten, oldest first, each as NUMBER+ or NUMBER-.
local function set_flag_outcome(account, number, outcome)
  local MOST_KEPT = 10 -- as rules of a site ask for the last ten at most
  local name, known = unpack(redis.call("HMGET", account, "name", "flag_outcomes"))
  if not name then return end
  local kept = {}
  for each, sign in string.gmatch(known or "", "(%d+)([+-])") do
    if each ~= number then kept[#kept + 1] = each .. sign end
  end
  if outcome ~= "" then kept[#kept + 1] = number .. outcome end
  if #kept > MOST_KEPT then table.remove(kept, 1) end
  if kept[1] then
    redis.call("HSET", account, "flag_outcomes", table.concat(kept, " "))
  elseif known then
    redis.call("HDEL", account, "flag_outcomes")
  end
end
