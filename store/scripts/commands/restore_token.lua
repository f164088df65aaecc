-- Write a one-time token as another store has it.
-- requires: one_time_tokens
-- from one_time_tokens: write_token(digest, name, purpose, ends, call, detail, at)
-- ARGV  1 digest of the token   2 username   3 what it is for   4 when it ends (unix milliseconds)
--       5 the call that has used it, or -   6 detail, or ""   7 now (unix milliseconds)
-- Reply {"restored"}
local digest, name, purpose, ends, call, detail, now = unpack(ARGV)
write_token(digest, name, purpose, ends, call, detail, now)
return {"restored"}
