-- Verify a user: the hash, the bans, and what is derived from all articles of the user: karma, and the time of the newest.
-- requires: bans, slots, verify_prelude
-- from bans: words_that_stand(words) -> text, words_of(found) -> text, standing_bans(lower_name) -> {ends, number} by place,
--   write_bans(lower_name)
-- from slots: SLOTS (how many slots there are, as in store/keys.py)
-- from verify_prelude: name (what the key ends with: a number, a username or a group),
--   reply (the next cursor, then four values of each finding), report(where, found, expected, repair), ONLY_DIGITS (a pattern),
--   examine(number) -> article | nil, text(value), expect_number(hash, field, found, value),
--   expect_member(index, member, value), log_repairs(subject)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       archived: how many articles are only in the SQL database, and their greatest values
--       held: a user's pending and removed articles   posters: usernames, by the time of the newest article
-- ARGV  1-6 for prelude.lua: 3 now (unix milliseconds)   7 "repair" to repair what is wrong, else ""
--       8 `name`, the last part of the key: a username in lower case
--       9 slot of the user (one of 1,024; it decides their partition)
--       10 latest time that a mark in a feed can have (unix milliseconds)
--       11 what `archived` had of the user when the caller read the database, "?" if it did not read it   of the user's
--       articles in the database: 12 how many   13 their karma   14 when the newest was posted, or 0
-- Reply {"0", then of each finding: key with field or member, found value, expected value, "repaired" or ""}
local account = KEY.user .. name
if redis.call("HEXISTS", account, "left") == 1 then return reply end -- the user is being deleted
local written, joined, seen, stored_karma, bans_of_user =
  unpack(redis.call("HMGET", account, "name", "joined", "seen", "karma", "bans"))
if string.lower(written or "") ~= name then report(account .. " name", written, name .. ", in any case") end
if not string.find(joined or "", ONLY_DIGITS) then report(account .. " joined", joined, "a usable joined") end
local mark = tonumber(string.match(seen or "", "^(%S+) %d+$")) -- TIME MEMBER of the newest article seen in the feed
if seen and not (mark and mark >= 0 and mark <= tonumber(ARGV[10])) then
  report(account .. " seen", seen, "a usable seen")
end

local MOST_KEPT = 10 -- names or outcomes, as upvoters.lua and flag_outcomes.lua keep

-- Expects a field to have at most `MOST_KEPT` words, each of a pattern.
local function expect_words(field, pattern)
  local known = redis.call("HGET", account, field)
  if not known then return end
  local kept = {}
  for word in string.gmatch(known, "%S+") do
    if string.find(word, pattern) and #kept < MOST_KEPT then kept[#kept + 1] = word end
  end
  local usable = kept[1] and table.concat(kept, " ") or nil
  if known ~= usable then
    report(account .. " " .. field, known, usable, function()
      if usable then redis.call("HSET", account, field, usable) else redis.call("HDEL", account, field) end
    end)
  end
end
expect_words("upvoters", "^~?[%w_-]+$")
expect_words("flag_outcomes", "^[1-9]%d*[+-]$")

local known_bans, standing = words_that_stand(bans_of_user or ""), words_of(standing_bans(name))
if known_bans ~= standing then
  report(account .. " bans", known_bans, standing, function() write_bans(name) end)
end

local field, expected = "user:" .. name, ARGV[12] .. " " .. ARGV[14]
local archived = redis.call("HGET", KEY.archived, field) or ""
if archived ~= (ARGV[11] == "?" and "" or ARGV[11]) then return reply end -- articles move, or the sums are not known
if archived ~= "" and string.match(archived, "^%d+ %d+") ~= expected or archived == "" and expected ~= "0 0" then
  report(KEY.archived .. " " .. field, archived ~= "" and archived, expected, function()
    local serial = redis.call("HINCRBY", KEY.archived, "serial", 1)
    redis.call("HSET", KEY.archived, field, expected .. " " .. serial)
  end)
end

local karma, newest = tonumber(ARGV[13]), ARGV[12] ~= "0" and tonumber(ARGV[14]) or nil
for _, list in ipairs({KEY.timeline, KEY.held}) do
  for _, member in ipairs(redis.call("ZRANGE", list .. name, 0, -1)) do
    local number = tonumber(member)
    local article = number and examine(string.format("%.0f", number))
    if article and article.invalid[1] then return reply end -- the sum cannot be derived
    local is_in_place = article and (list == KEY.held) == (article.state ~= nil)
    if is_in_place and article.member == member and string.lower(article.poster) == name then
      if number % SLOTS ~= tonumber(ARGV[9]) then
        report(article.hash, "of slot " .. text(number % SLOTS), "of slot " .. ARGV[9] .. ", as its poster is")
      end
      if article.state ~= "removed" then karma = karma + article.up - article.down - 1 end
      if not article.state then newest = math.max(newest or 0, article.time) end
    end
  end
end
expect_number(account, "karma", stored_karma, karma)
if written then expect_member(KEY.posters, written, newest) end
log_repairs("user:" .. name)
return reply
