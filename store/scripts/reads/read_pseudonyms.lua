-- Read the pseudonyms of deleted users.
-- requires: name_digests
-- from name_digests: pseudonym_of(departed, namekey, name)
-- ARGV  usernames in lower case
-- Reply {pseudonym or "" of each}
local found = {}
for place, name in ipairs(ARGV) do found[place] = pseudonym_of(KEY.departed, KEY.namekey, name) or "" end
return found
