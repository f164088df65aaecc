-- How an approval clears flags, and its revert brings them back. Outcomes of flags, by username: "+" a removal upholds
-- the flag, "-" an approval overrules it, "" nobody has decided.
-- requires: flag_decisions
-- from flags: flags_of(number) -> flags by name, flag_text(flag) -> text,
--   set_waiting(queue, number, since, groups, groups_before),
--   places_of(flags) -> (groups, groups of standing flags, since | nil), queue_flagged(number, is_visible)
-- from flag_decisions: record_outcomes(number, outcomes)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       flags: flags on an article or comment, by user

-- Clears the flags on an article or a comment that an action, given by its number, approves. Later flags of the same
-- users do not count.
local function clear_flags(number, action)
  local flags, outcomes = flags_of(number), {}
  for name, flag in pairs(flags) do
    if not flag.cleared_by then
      flag.cleared_by, outcomes[name] = action, "-"
      redis.call("HSET", KEY.flags .. number, name, flag_text(flag))
    end
  end
  set_waiting("flagged", number, nil, {}, (places_of(flags)))
  record_outcomes(number, outcomes)
end

-- Restores the flags that a reverted approval, `action`, had cleared. If another approval stands, its number is
-- `other_approval`, and they stay cleared, by that one; else it is nil. To be called after the state is set.
local function restore_flags(number, action, is_visible, other_approval, is_removed)
  local outcomes = {}
  for name, flag in pairs(flags_of(number)) do
    if flag.cleared_by == action then
      flag.cleared_by, outcomes[name] = other_approval, other_approval and "-" or is_removed and "+" or ""
      redis.call("HSET", KEY.flags .. number, name, flag_text(flag))
    end
  end
  queue_flagged(number, is_visible)
  record_outcomes(number, outcomes)
end
