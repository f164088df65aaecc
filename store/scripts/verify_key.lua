-- Verify what stands alone: voter sets, follows, sessions, idempotency keys, the sequence of a partition.
-- ARGV  8 what the key ends with, or ""   9 the kind of the key
--       10 highest sequence of any post, for `sequence`; how long a key is kept (milliseconds), for `posted`;
--       the whole key, for `following` and `followers`
local CHECKS = {}

local function voters(key)
  if redis.call("EXISTS", ARTICLE .. name) == 1 or redis.call("EXISTS", key) == 0 then return end
  report(key, "there", "nothing, as there is no such article", function() redis.call("DEL", key) end)
end

local function kept(key, pattern, instant, longest)
  local found = redis.call("GET", key)
  if not found then return end
  if not string.find(found, pattern) then return report(key, found, "usable") end
  expect_expiry(key, tonumber(split(found)[instant]) + longest)
end

local function owned(key)
  if redis.call("EXISTS", USER .. name) == 0 then report(key, "there", "a user's") end
end

function CHECKS.voted() voters(VOTED .. name) end
function CHECKS.downvoted() voters(DOWNVOTED .. name) end
function CHECKS.session() kept(SESSION .. name, "^[%w_-]+ %d+$", 2, 0) end
function CHECKS.posted() kept(POSTED .. name, "^%d+ %d+ %x+$", 2, tonumber(ARGV[10])) end

function CHECKS.following() owned(ARGV[10]) end
function CHECKS.followers() owned(ARGV[10]) end

function CHECKS.sequence()
  local is = redis.call("GET", SEQUENCE)
  if (tonumber(is or 0) or -1) >= tonumber(ARGV[10]) then return end
  report(SEQUENCE, is, "at least " .. ARGV[10], function() redis.call("SET", SEQUENCE, ARGV[10]) end)
end

CHECKS[ARGV[9]]()
return reply
