-- Read, for some comments of an article, their posters and whom they have notified.
-- KEYS  of partition p: 1 tree:{p}:N, the comments of the article by branch path   2 comment:{p}: (a number is appended)
-- ARGV  1 "-", or the member of the tree after which to go on, after "("   2 how many comments to read
-- Reply {where to go on, or "", then of each comment: number, poster or "", KIND:NAME:SLOT:TIME of each user whom it
--       has notified, or ""} (KIND is reply or mention)
local from_member, limit = ARGV[1], ARGV[2]
local members = redis.call("ZRANGEBYLEX", KEYS[1], from_member, "+", "LIMIT", 0, limit)
local reply = {#members == tonumber(limit) and "(" .. members[#members] or ""}
for _, member in ipairs(members) do
  local number = string.match(member, " (%d+)$")
  local poster, notified = unpack(redis.call("HMGET", KEYS[2] .. number, "poster", "notified"))
  for _, each in ipairs({number, poster or "", notified or ""}) do reply[#reply + 1] = each end
end
return reply
