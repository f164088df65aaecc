-- Apply the effect of an entry of another partition's log, once and in the order of that log: what the change there means
-- for users of this partition, such as a notification.
-- requires: flag_outcomes, notify, upvoters
-- from flag_outcomes: set_flag_outcome(account, number, outcome)
-- from notify: notify(account, inbox, events, keys, member, at, blocked, actor),
--   put_back_in_inbox(account, inbox, member, at, blocked, actor)
-- from upvoters: add_upvoter(account, voter), remove_upvoter(account, voter)
-- flags: allow-oom
-- KEYS  of this partition, q: 1 applied:{q}, the last entry applied of each other log
--       2 closed:{q}, set while it takes no writes   3 user:{q}:   4 channel events:{q}   5 mailbox:{q}:
--       6 mailing:{q}   7 mail:{q}:   8 blocked:{q}:   9 from here on: the key that each command of the effect changes
-- ARGV  1 partition of the log   2 id of the entry before with an effect here, or ""   3 id of the entry
--       4 from here on, for each command of the effect: its name, the number of its arguments after the key, and these;
--       NOTIFY and PUTBACK, of an inbox, have as arguments the username in lower case, the member, the time, and who
--       notifies, or "" for moderators: nobody is notified of whom they block; UPVOTED and ANNULLED, of a user, have the
--       voter, and DECIDED the number of what the user has flagged, and the outcome; without any command the entry is skipped
-- Reply {"applied"} | {"already"} | {"behind"}: earlier effects are missing
local source, before, entry = ARGV[1], ARGV[2], ARGV[3]

-- The two numbers of an id, TIME-SEQUENCE.
local function parse(id)
  local time, sequence = string.match(id, "^(%d+)-(%d+)$")
  return tonumber(time), tonumber(sequence)
end

local function is_before(id, other)
  if id == "" then return true end
  local time, sequence = parse(id)
  local other_time, other_sequence = parse(other)
  return time < other_time or time == other_time and sequence < other_sequence
end

local applied = redis.call("HGET", KEYS[1], source) or ""
if not is_before(applied, entry) then return {"already"} end
if applied ~= before then return {"behind"} end
if redis.call("EXISTS", KEYS[2]) == 1 then return redis.error_reply("CLOSED to writes") end

-- Each command: its name at `place` in ARGV, the number of its arguments, and these up to `last`.
local mail_keys = {mailbox = KEYS[5], mailing = KEYS[6], mail = KEYS[7]}
local place = 4
for i = 9, #KEYS do
  local last = place + 1 + tonumber(ARGV[place + 1])
  if ARGV[place] == "NOTIFY" then
    local name, member, at, actor = unpack(ARGV, place + 2, last)
    notify(KEYS[3] .. name, KEYS[i], KEYS[4], mail_keys, member, at, KEYS[8] .. name, actor ~= "" and actor)
  elseif ARGV[place] == "PUTBACK" then
    local name, member, at, actor = unpack(ARGV, place + 2, last)
    put_back_in_inbox(KEYS[3] .. name, KEYS[i], member, at, KEYS[8] .. name, actor ~= "" and actor)
  elseif ARGV[place] == "UPVOTED" then
    add_upvoter(KEYS[i], ARGV[place + 2])
  elseif ARGV[place] == "ANNULLED" then
    remove_upvoter(KEYS[i], ARGV[place + 2])
  elseif ARGV[place] == "DECIDED" then
    set_flag_outcome(KEYS[i], ARGV[place + 2], ARGV[place + 3])
  else
    redis.call(ARGV[place], KEYS[i], unpack(ARGV, place + 2, last))
  end
  place = last + 1
end
redis.call("HSET", KEYS[1], source, entry)
return {"applied"}
