-- The digest under which the name of a deleted user is kept: HMAC-SHA1, as `store/leaving.py` computes it.

-- `secret` is the text of the key of the store, 64 characters. `name` is in lower case.
local function name_digest(secret, name) --> hex digits
  local INNER_PAD, OUTER_PAD = 0x36, 0x5c -- of HMAC
  local function padded(byte)
    return (string.gsub(secret, ".", function(each) return string.char(bit.bxor(string.byte(each), byte)) end))
  end
  local inner = string.gsub(redis.sha1hex(padded(INNER_PAD) .. name), "..", function(hex)
    return string.char(tonumber(hex, 16))
  end)
  return redis.sha1hex(padded(OUTER_PAD) .. inner)
end

-- The pseudonym of the deleted user with a name; false if there is none. The keys are `departed` and `namekey`.
local function pseudonym_of(departed, namekey, name) --> pseudonym | false
  if redis.call("EXISTS", departed) == 0 then return false end
  return redis.call("HGET", departed, name_digest(redis.call("GET", namekey) or "", name))
end
