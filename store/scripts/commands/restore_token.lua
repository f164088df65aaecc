-- Write a token that is good once as another store has it.
-- requires: one_time_tokens
-- from one_time_tokens: write_token(digest, name, purpose, ends, call, detail, at)
-- ARGV  1 digest of the token   2 username   3 what it is for   4 when it ends (unix milliseconds)
--       5 the call that has used it, or -   6 detail, or ""   7 now (unix milliseconds)
-- Reply {"restored"}
write_token(ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7])
return {"restored"}
