-- Functions for scripts that post once, however often they are called.
-- Such a script has five arguments in a row in ARGV:
--   digest of the idempotency key; of the input if there is none
--   digest of the input; without an idempotency key a random digest, which says which call has posted
--   how long the same key, or the same input, is a replay   how long the key below is kept (both in milliseconds)
--   "keyed" if there is an idempotency key, else ""
-- requires: prelude
-- from prelude: split(text) -> {word, ...}, now (unix milliseconds)
-- The key `prefix` .. first of the five arguments has: number, time and second argument of the call that has posted

-- The reply to a call that repeats an earlier one, or nil. The five arguments begin at ARGV[first]; `status` is that of a
-- call that posts, and `find` returns the {field, value, ...} of a number, empty once it is deleted.
local function repeated_reply(prefix, poster, first, status, find) --> reply | nil
  local earlier = split(redis.call("GET", prefix .. ARGV[first]) or "") -- {number, time, second argument}
  if not earlier[1] or now - tonumber(earlier[2]) > tonumber(ARGV[first + 2]) then return nil end
  local flat, is_same, is_keyed = find(earlier[1]), earlier[3] == ARGV[first + 1], ARGV[first + 4] == "keyed"
  if is_keyed and not is_same then return {"mismatch"} end
  if is_keyed then return {"replayed", earlier[1], flat, poster} end
  if is_same then return {status, earlier[1], flat, poster, "", {}, ""} end -- the reply was lost, and the call sent again
  if flat[1] then return {"replayed", earlier[1], flat, poster} end
end

-- Notes that a call has posted a number.
local function note_posted(prefix, first, number)
  local value = string.format("%s %.0f %s", number, now, ARGV[first + 1])
  redis.call("SET", prefix .. ARGV[first], value, "PX", ARGV[first + 3])
end
