-- Verify a key that is not derived from others: voter set, follows, session, idempotency key, sequence of a partition.
-- KEYS  see comments.lua
-- ARGV  1-8 see verify_prelude.lua; the name may be ""   9 kind of the key
--       10 for `sequence` the highest sequence of any post; for `posted` and `commented` the time to live (milliseconds);
--       for `following` and `followers` the whole key
-- Reply see verify_prelude.lua
local CHECKS = {}

local function check_voters(key)
  if redis.call("EXISTS", ARTICLE .. name, COMMENT .. name) > 0 or redis.call("EXISTS", key) == 0 then return end
  report(key, "there", "nothing, as there is no such article or comment", function() redis.call("DEL", key) end)
end

-- `instant` is the index of an instant (unix milliseconds) in the value, after which the key lives `lifetime`.
local function check_string(key, pattern, instant, lifetime)
  local found = redis.call("GET", key)
  if not found then return end
  if not string.find(found, pattern) then return report(key, found, "usable") end
  expect_expiry(key, tonumber(split(found)[instant]) + lifetime)
end

local function check_owner(key)
  if redis.call("EXISTS", USER .. name) == 0 then report(key, "there", "a user's") end
end

function CHECKS.voted() check_voters(VOTED .. name) end
function CHECKS.downvoted() check_voters(DOWNVOTED .. name) end
function CHECKS.session() check_string(SESSION .. name, "^[%w_-]+ %d+$", 2, 0) end
function CHECKS.commented() check_string(COMMENTED .. name, "^%d+ %d+ %x+$", 2, tonumber(ARGV[10])) end
function CHECKS.posted() check_string(POSTED .. name, "^%d+ %d+ %x+$", 2, tonumber(ARGV[10])) end

function CHECKS.following() check_owner(ARGV[10]) end
function CHECKS.followers() check_owner(ARGV[10]) end

function CHECKS.sequence()
  local found = redis.call("GET", SEQUENCE)
  if (tonumber(found or 0) or -1) >= tonumber(ARGV[10]) then return end
  report(SEQUENCE, found, "at least " .. ARGV[10], function() redis.call("SET", SEQUENCE, ARGV[10]) end)
end

CHECKS[ARGV[9]]()
return reply
