-- Actions of moderators, such as the removal of an article or a ban: each is a hash with a number, in the partition of
-- what it is about. An action is never deleted. Only `reverted_by`, `kept`, and how far an annulment of votes has
-- come, are added to it later.
-- requires: appeals, log_text, mail_keys, notify, numbers
-- from prelude: publish(kind, number, name, id, ...), now (unix milliseconds)
-- from appeals: answer_appeal(number, moderator, text)
-- from log_text: append_text(kind, actor, type, number, ...) -> entry id
-- from mail_keys: MAILS (the keys that functions of mails.lua take)
-- from notify: notify(account, inbox, events, keys, member, at, blocked, actor)
-- from numbers: next_number(slot) -> text
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       actions: actions of moderators, by time
-- ARGV  3 now (unix milliseconds); no other is used here
local UNLOGGED = { -- fields of an action that its entry in the log does not have
  note = true, reverted_by = true, notified = true, kind = true, at = true, moderator = true, subject = true,
  held_by = true, kept = true, annulled = true, total = true, reaches = true, annulment = true,
}

-- The fields of an action that its entry in the log has, {name, value, ...}: those that everybody may read. `kind` becomes
-- `action`, and `subject` becomes `subject_id`, because each entry has a kind and a subject of its own.
local function public_values(number) --> {field, value, ...}
  local fields, names = {}, {}
  local flat = redis.call("HGETALL", KEY.action .. number)
  for i = 1, #flat, 2 do
    fields[flat[i]] = flat[i + 1]
    if not UNLOGGED[flat[i]] then names[#names + 1] = flat[i] end
  end
  table.sort(names)
  local values = {"action", fields.kind, "subject_id", fields.subject}
  for _, name in ipairs(names) do
    values[#values + 1] = name
    values[#values + 1] = fields[name]
  end
  return values
end

-- Publishes an action to all processes. `kind` is that of the log's entry, and `id` its id.
local function publish_action(kind, number, moderator, id, group)
  local place = group ~= "" and {group} or {}
  publish(kind, number, moderator, id, unpack(place))
end

-- The keys of the indexes that have an action.
local function indexes_of_action(subject, group, ban)
  local indexes = {KEY.actions .. "all", KEY.actions .. subject}
  if group ~= "" then indexes[#indexes + 1] = KEY.actions .. "group:" .. group end
  if ban then indexes[#indexes + 1] = KEY.actions .. "ban:" .. ban end
  return indexes
end

-- A user whom an action notifies, as moderation:NAME:SLOT:TIME, the format of the field `notified`; "" if that is the
-- moderator, or was deleted. `slot`, one of 1,024, decides in which partition the user is.
local function notified_user(username, slot, moderator) --> moderation:NAME:SLOT:TIME | ""
  local name = string.lower(username)
  if name == string.lower(moderator) or string.sub(name, 1, 1) == "~" then return "" end
  return string.format("moderation:%s:%.0f:%.0f", name, tonumber(slot), now)
end

-- Whom an action notifies: the user whom it is about, or the poster of the article or comment that it is about. "" if
-- that is the moderator, or a user of another partition. `slot` is that of this user, unless it is about a comment,
-- whose hash has it.
local function notified_of_action(subject, slot, moderator) --> moderation:NAME:SLOT:TIME | ""
  local type, name = string.match(subject, "^(%l+):(.*)$")
  if type ~= "user" then
    local hash, own_slot = (type == "article" and KEY.article or KEY.comment) .. name, nil
    name, own_slot = unpack(redis.call("HMGET", hash, "poster", "slot"))
    slot = own_slot or slot
  end
  if not name or redis.call("EXISTS", KEY.user .. string.lower(name)) == 0 then return "" end
  return notified_user(name, slot, moderator)
end

-- Notifies the user in `notified` (moderation:NAME:SLOT:TIME), who is in this partition; nobody if it is "".
local function notify_of_action(number, notified)
  local name, at = string.match(notified, "^moderation:([^:]+):%d+:(%d+)$")
  if not name then return end
  local member = string.format("%016.0f moderation action", tonumber(number))
  notify(KEY.user .. name, KEY.inbox .. name, KEY.events, MAILS, member, at)
end

-- Records an action on a subject, article:N, comment:N or user:NAME, and returns its number and the id of its entry in
-- the log. `slot` is N % SLOTS, or of a user the slot of the name: the last part of the action's number.
-- `fields` are further fields of the hash by name, of which "" is left out: group, reason, note, until, texts, votes, from,
-- to, ban, before, held_by, role, reverts, `notified` (`action` in store/keys.py says what each is). Without `notified`, the
-- action notifies whom `notified_of_action` says, but an approval nobody: it concerns a poster only if something was hidden.
local function record_action(slot, kind, subject, moderator, fields) --> (number, entry id)
  local number = next_number(tonumber(slot))
  local hash, group = KEY.action .. number, fields.group or ""
  fields.notified = fields.notified or kind ~= "approve" and notified_of_action(subject, slot, moderator) or ""
  local member = string.format("%016.0f", tonumber(number))
  redis.call("HSET", hash, "kind", kind, "at", ARGV[3], "moderator", moderator, "subject", subject, "reason", "")
  for name, value in pairs(fields) do if value ~= "" then redis.call("HSET", hash, name, value) end end
  for _, index in ipairs(indexes_of_action(subject, group, fields.ban)) do redis.call("ZADD", index, ARGV[3], member) end
  local values = public_values(number)
  if fields.notified ~= "" then
    values[#values + 1] = "notified"
    values[#values + 1] = fields.notified
  end
  local id = append_text("moderated", moderator, "action", number, unpack(values))
  publish_action("moderated", number, moderator, id, group)
  notify_of_action(number, fields.notified)
  return number, id
end

-- The number and the kind of the newest action on a subject that was not reverted, among those of `kinds`, a text with
-- spaces between; nil if there is none. With `wanted`, a table, only an action whose fields have these values.
local function standing_action(subject, kinds, wanted) --> (number, kind) | nil
  local index, first, AT_ONCE = KEY.actions .. subject, 0, 100 -- actions that are read at once
  while true do
    local members = redis.call("ZRANGE", index, first, first + AT_ONCE - 1, "REV")
    for _, member in ipairs(members) do
      local number = string.format("%.0f", tonumber(member))
      local found, reverted_by = unpack(redis.call("HMGET", KEY.action .. number, "kind", "reverted_by"))
      local is_wanted = not reverted_by and string.find(" " .. kinds .. " ", " " .. (found or "") .. " ", 1, true)
      for name, value in pairs(is_wanted and wanted or {}) do
        is_wanted = is_wanted and (redis.call("HGET", KEY.action .. number, name) or "") == value
      end
      if is_wanted then return number, found end
    end
    if #members < AT_ONCE then return nil end
    first = first + AT_ONCE
  end
end

-- Reads an action that is to be reverted, as a table of its fields; nil if it was reverted before. One that was reverted but
-- for its votes (`kept`) can be reverted once more, which is about these votes alone.
local function revertible(number) --> fields by name | nil
  local action, flat = {}, redis.call("HGETALL", KEY.action .. number)
  for i = 1, #flat, 2 do action[flat[i]] = flat[i + 1] end
  if not action.reverted_by or action.kept then return action end
end

-- Records the revert of an action, which `revertible` has read, and returns what `record_action` does. `notified` is as
-- in its `fields`. A revert answers an appeal against the action, whose `reverted_by` is its first revert. The caller then
-- changes the subject to what the remaining actions say.
local function record_revert(slot, number, action, moderator, reason, note, notified) --> (number, entry id)
  local fields = {
    group = action.group or "", role = action.role or "", reason = reason, note = note, reverts = number,
    notified = notified,
  }
  local revert, id = record_action(slot, "revert", action.subject, moderator, fields)
  redis.call("HSETNX", KEY.action .. number, "reverted_by", revert)
  answer_appeal(number, moderator)
  return revert, id
end

-- The reply of a command: {"changed" | "same", number of the action or "", {field, value, ...}}.
local function action_reply(status, number) --> {status, number | "", {field, value, ...}}
  return {status, number or "", number and redis.call("HGETALL", KEY.action .. number) or {}}
end
