-- Lists the users who have confirmed a mail address, by its SHA-1. `lower_name` is a username in lower case.
-- requires: mail_keys, mails
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       addressed: users who have confirmed an address

local function list_address(lower_name, email)
  redis.call("SADD", KEY.addressed .. redis.sha1hex(string.lower(email)), lower_name)
end

local function unlist_address(lower_name, email)
  redis.call("SREM", KEY.addressed .. redis.sha1hex(string.lower(email)), lower_name)
end
