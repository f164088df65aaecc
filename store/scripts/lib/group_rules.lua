-- Which groups articles may be added to. The settings of the site say whether a group has to be listed or known first;
-- the caller passes that on as a condition (store/groups.py).
-- requires: prelude
-- from prelude: split(text) -> {word, ...}
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       place: what is written about a group   groups: names of groups that are listed or have articles

-- Those of some groups to which no article may be added, separated by spaces; nil if there are none. Only the groups in
-- `checked`, separated by spaces, are checked. The condition "listed" is that an admin has made the group, "known" that
-- it is listed or has articles. With "none" all in `checked` are refused, as the caller has found before.
local function refused_groups(groups, checked, condition) --> names | nil
  if checked == "" then return nil end
  local is_checked, refused = {}, {}
  for _, group in ipairs(split(checked)) do is_checked[group] = true end
  for _, group in ipairs(groups) do
    local meets = condition == "listed" and redis.call("HEXISTS", KEY.place .. group, "listed") == 1
      or condition == "known" and redis.call("ZSCORE", KEY.groups, group)
    if is_checked[group] and not meets then refused[#refused + 1] = group end
  end
  return refused[1] and table.concat(refused, " ")
end
