-- Change what a user has written about themselves.
-- requires: profiles
-- from prelude: actor() -> username | false
-- from profiles: write_profile(name, changes)
-- replies kept in case the call is sent again, by status: edited
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 from here on: each field to change, display_name, about or avatar_url, then its text; "" removes it
-- Reply {"edited" | "same", username} | {"unauthenticated"}
local name = actor()
if not name then return {"unauthenticated"} end
return {write_profile(name, {unpack(ARGV, 7)}) and "edited" or "same", name}
