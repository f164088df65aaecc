-- The state of an article or a comment as the actions of moderators say: removals, approvals and purges (removals for
-- good) that were not reverted. `subject` is article:N or comment:N.
-- requires: actions
-- from actions: standing_action(subject, kinds, wanted) -> (number, kind) | nil
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       actions: actions of moderators, by time

-- The removals, approvals and the purge of a subject, oldest first, each with the state that it has found (`before`, "" for
-- visible) and the one that it sets. An approval also has the rule that held the subject until then (`held_by`). Actions that
-- take an article out of a group are not among them.
local function decisions_on(subject)
  local found, is_article = {}, string.sub(subject, 1, 8) == "article:"
  for _, member in ipairs(redis.call("ZRANGE", KEY.actions .. subject, 0, -1)) do
    local number = string.format("%.0f", tonumber(member))
    local kind, group, before, reverted_by, held_by =
      unpack(redis.call("HMGET", KEY.action .. number, "kind", "group", "before", "reverted_by", "held_by"))
    local is_whole = not (is_article and group and group ~= "")
    if is_whole and (kind == "remove" or kind == "approve" or kind == "purge") then
      found[#found + 1] = {
        number = tonumber(number), kind = kind, before = before or "", state = kind ~= "approve" and "removed" or "",
        ends = tonumber(reverted_by), -- the number of its revert: numbers of actions grow with time
        held_by = held_by or nil,
      }
    end
  end
  return found
end

-- The newest of some decisions that stood when the action with a number was made or, without a number, that stands now;
-- {state = ""} if none did.
local function newest_standing(decisions, number)
  for i = #decisions, 1, -1 do
    local ends = decisions[i].ends
    if not ends or number and number <= ends then return decisions[i] end
  end
  return {state = ""}
end

-- The state of a subject as its actions say: "removed", "pending", or nil for visible. And the kind of the decision that
-- stands, nil if none does. If an action found another state (`before`) than the earlier actions say, the subject was held or
-- shown without a moderator in between. A revert of the action brings that state back. The third value is the rule that held
-- the subject before an approval which is reverted; nil if there is none.
local function state_of(subject) --> (state | nil, kind | nil, rule | nil)
  local known, held = {}, nil -- `held` is the last time that it was held
  for _, decision in ipairs(decisions_on(subject)) do
    local before = decision.before
    if before ~= "removed" and newest_standing(known, decision.number).state ~= before then
      known[#known + 1] = {state = before}
      held = before == "pending" and known[#known] or held
    end
    if held and decision.held_by then held.rule = decision.held_by end
    known[#known + 1] = decision
  end
  local newest = newest_standing(known)
  return newest.state ~= "" and newest.state or nil, newest.kind, newest.rule
end

-- As `state_of`, after a revert. A subject that is pending now (`current`) was held after the reverted action: only an approval
-- shows it.
local function state_after_revert(subject, current) --> (state | nil, kind | nil, rule | nil)
  local state, decided, rule = state_of(subject)
  return state or current == "pending" and "pending" or nil, decided, rule
end

local function is_purged(subject)
  return standing_action(subject, "purge") ~= nil
end
