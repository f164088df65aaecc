-- What moderators decide about flags: a removal of an article or a comment upholds the flags on it that were not
-- cleared, an approval overrules and clears them (flag_clearing.lua), and a revert takes that back. The outcome is
-- kept in the hashes of the users who have set the flags.
-- requires: flag_outcomes, flags, notifications, slots
-- from flag_outcomes: set_flag_outcome(account, number, outcome)
-- from prelude: append_log(kind, actor, subject, ...) -> entry id
-- from flags: flags_of(number) -> flags by name
-- from notifications: is_here(slot), note_effects(id, slots) -> {partition, entry id, ...}
-- from slots: SLOTS (how many slots there are, as in store/keys.py)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended

-- Records the outcomes of flags on an article or a comment, by names in lower case: "+", "-", or "" for none. Those for
-- users of other partitions are effects of an entry of the log, and applied within a second.
local function record_outcomes(number, outcomes)
  -- The slot of a username in lower case, as `keys.slot`: CRC16 (XMODEM).
  local function slot_of_name(name)
    local crc = 0
    for i = 1, #name do
      crc = bit.bxor(crc, bit.lshift(string.byte(name, i), 8))
      for _ = 1, 8 do
        crc = bit.lshift(crc, 1)
        if crc >= 0x10000 then crc = bit.bxor(crc, 0x11021) end
      end
    end
    return crc % SLOTS
  end

  local words, slots = {}, {}
  for name, outcome in pairs(outcomes) do
    local slot = slot_of_name(name)
    if is_here(slot) then
      set_flag_outcome(KEY.user .. name, number, outcome)
    else
      words[#words + 1] = name .. ":" .. outcome
      slots[#slots + 1] = slot
    end
  end
  if not words[1] then return end
  table.sort(words)
  local type = redis.call("EXISTS", KEY.article .. number) == 1 and "article" or "comment"
  local id = append_log("flags_decided", "", type .. ":" .. number, "outcomes", table.concat(words, " "))
  note_effects(id, slots)
end

-- Records that a thing was removed, or is not removed any more: what becomes of the flags that stand on it.
local function decide_flags(number, is_removed)
  local outcomes = {}
  for name, flag in pairs(flags_of(number)) do
    if not flag.cleared_by then outcomes[name] = is_removed and "+" or "" end
  end
  record_outcomes(number, outcomes)
end
