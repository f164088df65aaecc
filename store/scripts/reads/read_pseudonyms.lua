-- Read the pseudonyms that have taken the place of the names of deleted users.
-- requires: name_digests
-- from name_digests: pseudonym_of(departed, namekey, name) -> pseudonym | false
-- KEY   keys of this partition (a share of the data) by kind
--       departed: pseudonyms of deleted users, by digest of the name   namekey: the secret for digests of names
-- ARGV  usernames in lower case
-- Reply {pseudonym or "" of each}
local found = {}
for place, name in ipairs(ARGV) do found[place] = pseudonym_of(KEY.departed, KEY.namekey, name) or "" end
return found
