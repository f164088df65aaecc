-- Lists the users who have confirmed a mail address, by its SHA-1. `subject` is a username in lower case.
-- requires: mail_keys, mails
-- KEY   this partition's keys by name; to some a number or a name is appended (see registry.py)
--       addressed: users who have confirmed an address

local function list_address(subject, email)
  redis.call("SADD", KEY.addressed .. redis.sha1hex(string.lower(email)), subject)
end

local function unlist_address(subject, email)
  redis.call("SREM", KEY.addressed .. redis.sha1hex(string.lower(email)), subject)
end
