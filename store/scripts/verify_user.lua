-- Verify a user: the hash, and what is derived from all articles of the user: karma, and the time of the newest.
-- KEYS  see prelude.lua
-- ARGV  1-8 see verify_prelude.lua; the name is a username in lower case   9 slot of the user
--       10 latest time that a mark in a feed can have (unix milliseconds)
-- Reply see verify_prelude.lua
local account = USER .. name
local written, joined, seen, stored = unpack(redis.call("HMGET", account, "name", "joined", "seen", "karma"))
if string.lower(written or "") ~= name then report(account .. " name", written, name .. ", in any case") end
if not string.find(joined or "", DIGITS) then report(account .. " joined", joined, "a usable joined") end
local mark = tonumber(string.match(seen or "", "^(%S+) %d+$"))
if seen and not (mark and mark >= 0 and mark <= tonumber(ARGV[10])) then
  report(account .. " seen", seen, "a usable seen")
end

local karma, newest = 0, nil
for _, member in ipairs(redis.call("ZRANGE", TIMELINE .. name, 0, -1)) do
  local number = tonumber(member)
  local article = number and examine(string.format("%.0f", number))
  if article and article.torn[1] then return reply end -- the sum cannot be derived
  if article and article.member == member and string.lower(article.poster) == name then
    if number % 1024 ~= tonumber(ARGV[9]) then
      report(article.hash, "of slot " .. text(number % 1024), "of slot " .. ARGV[9] .. ", as its poster is")
    end
    karma, newest = karma + article.up - article.down - 1, math.max(newest or 0, article.time)
  end
end
expect_number(account, "karma", stored, karma)
if written then expect_member(NEWEST_POSTS, written, newest) end
log_repairs("user:" .. name)
return reply
