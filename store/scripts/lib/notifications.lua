-- Functions that notify users, here and in other partitions. A script changes only its own partition: what its entry in
-- the log means for users of another one is an effect, which is applied there a moment later (apply_effect.lua). The
-- field `notified` of an article, a comment or an action has KIND:NAME:SLOT:TIME of each user whom it has notified,
-- separated by spaces; the kind is reply, mention or moderation.
-- requires: mail_keys, notify, prelude
-- from mail_keys: MAILS (the keys that functions of mails.lua take)
-- from notify: notify(account, inbox, events, keys, member, at, blocked, actor),
--   put_back_in_inbox(account, inbox, member, at, blocked, actor)
-- from prelude: now (unix milliseconds)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       effects: the last entry with an effect in another partition, by partition
-- ARGV  7 number of partitions; in scripts that require roles.lua, which has 7, it is 8   1-6 for prelude.lua
local partitions = tonumber(ARGV[7]) or tonumber(ARGV[8]) -- how many there are
local here = tonumber(string.match(KEY.effects, "{(%d+)}")) -- this partition
local NOTIFIED = "(%l+):([^:%s]+):(%d+):(%d+)" -- kind, username in lower case, its slot, and when the user was notified

-- Whether users of a slot, of which there are 1,024, are in this partition.
local function is_here(slot)
  return slot % partitions == here
end

-- Notes that an entry of the log has effects on users of some slots. Returns, for each other partition that has any,
-- its number and the id of the entry before that has an effect there, or "": {partition, id, ...}.
local function note_effects(id, slots) --> {partition, entry id, ...}
  local noted, known = {}, {[here] = true}
  for _, slot in ipairs(slots) do
    local target = slot % partitions
    if not known[target] then
      known[target] = true
      noted[#noted + 1] = target
      noted[#noted + 1] = redis.call("HGET", KEY.effects, target) or ""
      redis.call("HSET", KEY.effects, target, id)
    end
  end
  return noted
end

-- Whom an article or a comment notifies that its earlier versions (`before`) have not, as a new part of `notified`:
-- those whom it mentions, {username in lower case, slot, ...}, up to `most` with those before; and the poster of what
-- it answers, {poster = ..., slot = ...}, if given.
local function newly_notified(poster, before, answered, most, mentioned) --> KIND:NAME:SLOT:TIME ...
  local known, words, mentions = {[string.lower(poster)] = true}, {}, 0
  local function add(kind, name, slot)
    if known[name] then return end
    known[name] = true
    words[#words + 1] = string.format("%s:%s:%s:%.0f", kind, name, slot, now)
    if kind == "mention" then mentions = mentions + 1 end
  end
  for kind, name in string.gmatch(before or "", NOTIFIED) do
    known[name] = true
    if kind == "mention" then mentions = mentions + 1 end
  end
  if answered and string.sub(answered.poster, 1, 1) ~= "~" then add("reply", string.lower(answered.poster), answered.slot) end
  for i = 1, #mentioned, 2 do
    if mentions < tonumber(most) then add("mention", mentioned[i], mentioned[i + 1]) end
  end
  return table.concat(words, " ")
end

-- Keeps whom a text has notified in its hash: those `before` and, if there are any, the new ones, `notified`.
local function add_notified(hash, before, notified)
  if notified ~= "" then redis.call("HSET", hash, "notified", before and before .. " " .. notified or notified) end
end

-- Whom a text notifies that is shown for the first time now: `notified` with this time.
local function notified_now(notified) --> KIND:NAME:SLOT:TIME ...
  return (string.gsub(notified, "(%l+:[^:%s]+:%d+):%d+", function(word) return string.format("%s:%.0f", word, now) end))
end

-- The slots of the users in `notified`, and others.
local function slots_of(notified, ...) --> {slot, ...}
  local slots = {...}
  for _, _, slot in string.gmatch(notified or "", NOTIFIED) do slots[#slots + 1] = slot end
  return slots
end

-- The fields and values of an entry about an article, with those whom it notifies if there are any.
local function with_notified(notified, ...) --> field, value, ...
  if (notified or "") == "" then return ... end
  return "notified", notified, ...
end

-- A notification as a member of inboxes: of which kind, and about which type of thing.
local function notification(number, kind, type)
  return string.format("%016.0f %s %s", tonumber(number), kind, type)
end

-- Notifies the users in `notified` who are in this partition. `type` and `number` say of what: an article, a comment or
-- an action. Those who block its poster are left out; an action has none.
local function notify_here(notified, type, number, poster)
  for kind, name, slot, at in string.gmatch(notified, NOTIFIED) do
    if is_here(slot) then
      local member = notification(number, kind, type)
      notify(KEY.user .. name, KEY.inbox .. name, KEY.events, MAILS, member, at, KEY.blocked .. name, poster)
    end
  end
end

-- Puts a text that was hidden back into the inboxes here.
local function put_back_here(notified, type, number, poster)
  for kind, name, slot, at in string.gmatch(notified or "", NOTIFIED) do
    if is_here(slot) then
      local member = notification(number, kind, type)
      put_back_in_inbox(KEY.user .. name, KEY.inbox .. name, member, at, KEY.blocked .. name, poster)
    end
  end
end

-- Removes the notifications of a deleted or hidden text from the inboxes of this partition.
local function remove_notifications_here(notified, type, number)
  for kind, name, slot in string.gmatch(notified or "", NOTIFIED) do
    if is_here(slot) then redis.call("ZREM", KEY.inbox .. name, notification(number, kind, type)) end
  end
end
