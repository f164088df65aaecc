-- Take comments that are gone out of the lists of their posters and out of inboxes, in the partition of these users.
-- flags: allow-oom
-- KEYS  of that partition, q: 1 closed:{q}, set while it takes no writes
--       2 from here on: comments:{q}:NAME and inbox:{q}:NAME
-- ARGV  for each of these its members, separated by commas
-- Reply {"forgotten"}
if redis.call("EXISTS", KEYS[1]) == 1 then return redis.error_reply("CLOSED to writes") end
for i = 2, #KEYS do
  for member in string.gmatch(ARGV[i - 1], "[^,]+") do redis.call("ZREM", KEYS[i], member) end
end
return {"forgotten"}
