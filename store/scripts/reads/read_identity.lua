-- Read which user a subject of an issuer belongs to.
-- ARGV  1 digest of the subject
-- Reply "reserved NAME" | "made NAME" | "gone" | "" if nobody has it
return redis.call("GET", KEY.identity .. ARGV[1]) or ""
