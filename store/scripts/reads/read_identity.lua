-- Read which user an identity belongs to: a person known to an identity provider, a subject of an issuer.
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       identity: which user a person at a log-in provider is
-- ARGV  1 digest of the subject
-- Reply "reserved NAME" before there is a user, then "made NAME" | "gone" if the user was deleted | "" if it is new
return redis.call("GET", KEY.identity .. ARGV[1]) or ""
