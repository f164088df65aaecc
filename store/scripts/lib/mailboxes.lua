-- Addresses of users, and who has confirmed one. `subject` is a username in lower case.
-- requires: mail_keys, mails

local function list_address(subject, email)
  redis.call("SADD", KEY.addressed .. redis.sha1hex(string.lower(email)), subject)
end

local function unlist_address(subject, email)
  redis.call("SREM", KEY.addressed .. redis.sha1hex(string.lower(email)), subject)
end
