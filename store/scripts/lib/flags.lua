-- Flags on articles and comments, and the queues in which things wait for moderators.
-- requires: prelude
-- from prelude: split(text) -> {word, ...}
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       flags: flags on an article or comment, by user   queue: what waits for moderators
--
-- A flag is the text of a field, AT REASON NAME [+]CLEARED_BY GROUPS NOTE: when and by whom it was set, "+" if it counts
-- toward hiding, the number of the action that has cleared it or "-", the groups that the article had then or "-", and a note.
-- A cleared flag does not count.
local function parse_flag(text) --> flag
  local FLAG = "^(%d+) (%S+) (%S+) (%+?)(%S+) (%S+) ?(.*)$"
  local at, reason, name, counts, cleared_by, groups, note = string.match(text, FLAG)
  return {
    at = tonumber(at), reason = reason, name = name, cleared_by = cleared_by ~= "-" and cleared_by or nil, note = note,
    counts = counts ~= "", groups = groups == "-" and {} or split((string.gsub(groups, ",", " "))),
  }
end

local function flag_text(flag) --> text
  local groups = flag.groups[1] and table.concat(flag.groups, ",") or "-"
  return string.format(
    "%.0f %s %s %s%s %s %s", flag.at, flag.reason, flag.name, flag.counts and "+" or "", flag.cleared_by or "-", groups,
    flag.note
  )
end

-- The flags on an article or a comment, by names in lower case.
local function flags_of(number) --> flags by name
  local flat, flags = redis.call("HGETALL", KEY.flags .. number), {}
  for i = 1, #flat, 2 do flags[flat[i]] = parse_flag(flat[i + 1]) end
  return flags
end

-- Puts a thing at the instant `since` in a queue, such as `flagged` or `pending`, of the site and of some groups, and takes
-- it out of that of each other group of `groups_before`. Without `since`, takes it out of the queues of the site and of
-- all of `groups_before`.
local function set_waiting(queue, number, since, groups, groups_before)
  local key, member, stays = KEY.queue .. queue .. ":", string.format("%016.0f", tonumber(number)), {}
  for _, group in ipairs(since and groups or {}) do
    stays[group] = true
    redis.call("ZADD", key .. "group:" .. group, since, member)
  end
  for _, group in ipairs(groups_before or {}) do
    if not stays[group] then redis.call("ZREM", key .. "group:" .. group, member) end
  end
  if since then
    redis.call("ZADD", key .. "all", since, member)
  else
    redis.call("ZREM", key .. "all", member)
  end
end

-- The groups of all flags, the groups of the flags that stand, and the time of the first that stands.
local function places_of(flags) --> (groups, groups of standing flags, since | nil)
  local all, standing, since = {}, {}, nil
  for _, flag in pairs(flags) do
    for _, group in ipairs(flag.groups) do
      all[#all + 1] = group
      if not flag.cleared_by then standing[#standing + 1] = group end
    end
    if not flag.cleared_by then since = math.min(since or flag.at, flag.at) end
  end
  return all, standing, since
end

-- Updates the queues in which a flagged subject waits after its state has changed: none while it is not visible.
local function queue_flagged(number, is_visible)
  local all, standing, since = places_of(flags_of(number))
  set_waiting("flagged", number, is_visible and since or nil, standing, all)
end

-- Whether a thing has flags that were not cleared.
local function is_flagged(number)
  local _, _, since = places_of(flags_of(number))
  return since ~= nil
end

-- Sets the flag of a user on a visible thing, or withdraws it if `flag` is nil.
local function set_flag(number, name, flag)
  local groups_before = places_of(flags_of(number))
  if flag then
    redis.call("HSET", KEY.flags .. number, name, flag_text(flag))
  else
    redis.call("HDEL", KEY.flags .. number, name)
  end
  local _, standing, since = places_of(flags_of(number))
  set_waiting("flagged", number, since, standing, groups_before)
end

-- Forgets the flags on a thing that were cleared: its text is another one now, and may be flagged by the same people.
local function forget_cleared_flags(number)
  if redis.call("EXISTS", KEY.flags .. number) == 0 then return end
  for name, flag in pairs(flags_of(number)) do
    if flag.cleared_by then redis.call("HDEL", KEY.flags .. number, name) end
  end
end

-- Deletes the flags on a thing that is deleted.
local function drop_flags(number)
  if redis.call("EXISTS", KEY.flags .. number) == 0 then return end
  set_waiting("flagged", number, nil, {}, (places_of(flags_of(number))))
  redis.call("DEL", KEY.flags .. number)
end
