-- Issue a one-time token to a user. If the user has too many, those that would expire first end now.
-- requires: one_time_tokens
-- from one_time_tokens: write_token(digest, name, purpose, ends, call, detail, at), end_token(lower_name, digest)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       closed: set while the partition takes no writes   token: a one-time token
--       tokens: a user's one-time tokens, by when they end
-- ARGV  1 username   2 digest of the token   3 what it is for   4 now   5 when it ends (both unix milliseconds)
--       6 detail, or ""   7 how many tokens a user may have
-- Reply {"issued", name of the user as written} | {"missing"}
local lower_name, digest = string.lower(ARGV[1]), ARGV[2]
local name = redis.call("HGET", KEY.user .. lower_name, "name")
if not name then return {"missing"} end
if redis.call("EXISTS", KEY.closed) == 1 then return redis.error_reply("CLOSED to writes") end
if redis.call("EXISTS", KEY.token .. digest) == 1 then return {"issued", name} end -- the call was sent again
local UNUSED = "-" -- in place of the call that has used the token
local purpose, now, ends, detail = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
write_token(digest, name, purpose, ends, UNUSED, detail, now)
for _, other in ipairs(redis.call("ZRANGE", KEY.tokens .. lower_name, 0, -1 - tonumber(ARGV[7]))) do
  if other ~= digest then end_token(lower_name, other) end
end
return {"issued", name}
