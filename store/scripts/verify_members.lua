-- Verify some members of a sorted set, from a cursor on: each has to belong there.
-- KEYS  see comments.lua
-- ARGV  1-8 see verify_prelude.lua; the name may be ""   9 kind of the key   10 ZSCAN cursor
-- Reply see verify_prelude.lua
local kind, COUNT = ARGV[9], 500
local PREFIXES = {
  good = GOOD_ARTICLES, groups = GROUPS, posters = NEWEST_POSTS, group = GROUP, coming = NEXT_GROUP,
  timeline = TIMELINE, links = LINKS, replies = REPLIES, tree = TREE, stubs = STUBS,
}
local index, group = (INDEX[kind] or PREFIXES[kind]) .. name, string.match(name, "^[^:]*")

local function has(list, wanted)
  for _, each in ipairs(list) do if each == wanted then return true end end
  return false
end

local function is_in_tree(member)
  local comment = find_comment(string.match(member, " (%d+)$") or "")
  if not comment or comment.article ~= name or not comment.path then return false end
  return tree_member(comment.path, comment.number) == member and (kind == "tree" or comment.state == "deleted")
end

local function is_reply(number)
  local article, parent = unpack(redis.call("HMGET", COMMENT .. number, "article", "parent"))
  return (parent or article) == string.match(name, "^%d+")
end

-- If a field of the article's hash is missing, its members stay: they help to repair the hash by hand.
local function belongs(member)
  if kind == "groups" then
    if redis.call("EXISTS", GROUP .. member .. ":time") == 1 then return true end
    return redis.call("HEXISTS", ARCHIVED, "count:group:" .. member) == 1
  end
  if kind == "posters" then return redis.call("HGET", USER .. string.lower(member), "name") == member end
  if kind == "tree" or kind == "stubs" then return is_in_tree(member) end
  local number = tonumber(member)
  if not number or string.format("%016.0f", number) ~= member then return false end
  if kind == "replies" then return is_reply(string.format("%.0f", number)) end
  local hash = ARTICLE .. string.format("%.0f", number)
  if redis.call("EXISTS", hash) == 0 then return false end
  if kind == "links" then return redis.call("HGET", hash, "link_digest") == name end
  if kind == "timeline" then return string.lower(redis.call("HGET", hash, "poster") or name) == name end
  if kind == "coming" and redis.call("HEXISTS", RANKING, "next:" .. group) == 0 then return false end
  return kind ~= "group" and kind ~= "coming" or has(split(redis.call("HGET", hash, "groups") or group), group)
end

local cursor, found = unpack(redis.call("ZSCAN", index, ARGV[10], "COUNT", COUNT))
for i = 1, #found, 2 do
  if not belongs(found[i]) then expect_member(index, found[i], nil) end
end
reply[1] = cursor
return reply
