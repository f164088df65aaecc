-- One-time tokens, such as that of a link to reset a password, each kept under its digest. The key `token` has NAME
-- PURPOSE END CALL DETAIL; CALL is a text that names the call which has used the token, and - before. The key `tokens`
-- has the digests of a user's tokens by when they end. Instants are in unix milliseconds.
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       token: a one-time token   tokens: a user's one-time tokens, by when they end

-- Deletes a token, and removes it from the list of its user.
local function end_token(lower_name, digest)
  redis.call("DEL", KEY.token .. digest)
  redis.call("ZREM", KEY.tokens .. lower_name, digest)
end

-- Ends all tokens of a user, except the one with the digest `kept` if that is given.
local function end_tokens(lower_name, kept)
  for _, digest in ipairs(redis.call("ZRANGE", KEY.tokens .. lower_name, 0, -1)) do
    if digest ~= kept then end_token(lower_name, digest) end
  end
end

-- Writes a token, and lists it; the list lives as long as the last token of the user. `call` is - if unused, `at` is now.
local function write_token(digest, name, purpose, ends, call, detail, at)
  local lower_name = string.lower(name)
  local list = KEY.tokens .. lower_name
  local text = table.concat({name, purpose, ends, call, detail}, " ")
  redis.call("SET", KEY.token .. digest, text, "PX", math.max(1, ends - at))
  for _, ended in ipairs(redis.call("ZRANGE", list, "-inf", "(" .. at, "BYSCORE")) do end_token(lower_name, ended) end
  redis.call("ZADD", list, ends, digest)
  redis.call("PEXPIRE", list, math.max(1, redis.call("ZRANGE", list, 0, 0, "REV", "WITHSCORES")[2] - at))
end

-- The name of the user, the purpose, the end, the call and the detail of a token; nil if there is none.
local function read_token(digest)
  return string.match(redis.call("GET", KEY.token .. digest) or "", "^(%S+) (%l+) (%d+) (%S+) (.*)$")
end

-- Uses a token up, and returns the name of its user and its detail; nil if it is not for this purpose, has ended, or was
-- used by another call. `call` is a text that names the call: if it is sent again, as its reply was lost, it gets the
-- same, and true.
local function use_token(digest, purpose, call, at) --> (name, detail, is repeated) | nil
  local name, its_purpose, ends, used_by, detail = read_token(digest)
  if its_purpose ~= purpose or tonumber(at) > tonumber(ends) or used_by ~= "-" and used_by ~= call then return nil end
  write_token(digest, name, purpose, ends, call, detail, at)
  return name, detail, used_by == call
end
