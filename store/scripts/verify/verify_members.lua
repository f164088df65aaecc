-- Verify some members of a sorted set, from a cursor on: report those that do not belong there, or remove them, too.
-- requires: comments, verify_prelude
-- from branch_paths: tree_member(path, number) -> LABEL NUMBER
-- from prelude: INDEX (keys of the site's indexes, by order), split(text) -> {word, ...},
--   read_ranking(groups) -> {orders, own, next_weights}, WEIGHTED_BY (orders whose index depends on a weight)
-- from recent_comments: recent.places_of(groups)
-- from comments: find_comment(number) -> fields by name | nil
-- from verify_prelude: name (what the key ends with: a number, a username or a group),
--   reply (the next cursor, then four values of each finding), is_user(username), expect_member(index, member, value)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       good: articles with many votes, by time   groups: names of groups that are listed or have articles
--       posters: usernames, by the time of the newest article
--       coming: a group's indexes by its new weights, while they are built
--       links: articles by the digest of their link
--       replies: replies to an article or comment, by the value of an order
--       tree: an article's comments by branch path   stubs: those comments of a tree that are not visible
--       latest: an article's visible comments by time, if it has many   held: a user's pending and removed articles
--       siteranked: indexes by the site's weights, of groups that have weights of their own
--       recent: newest visible comments of the site or a group   left: archived articles whose comments Redis still has
--       archived: how many articles are only in the SQL database, and their greatest values
--       relisting: articles whose comments are entering or leaving `recent`   place: what is written about a group
--       ranking: the orders to write, and the weights of groups that have their own
-- ARGV  1-6 for prelude.lua: 3 now (unix milliseconds)   7 "repair" to repair what is wrong, else ""
--       8 `name`, the last part of the key: an article, a user, a link digest, GROUP:ORDER, a place of recent comments
--       (`all`, or `group:` and a name), or "" for an index of the site   9 kind of the key   10 ZSCAN cursor
-- Reply {next cursor, "0" at the end; then of each finding: key with field or member, found value, expected value,
--       "repaired" or ""}
local kind = ARGV[9]
local COUNT = 500 -- members, about, in a call, as the script blocks the server
local PREFIXES = {
  good = KEY.good, groups = KEY.groups, posters = KEY.posters, group = KEY.group, coming = KEY.coming,
  timeline = KEY.timeline, links = KEY.links, replies = KEY.replies, tree = KEY.tree, stubs = KEY.stubs,
  latest = KEY.latest, held = KEY.held, siteranked = KEY.siteranked, recent = KEY.recent,
}
local index = (INDEX[kind] or PREFIXES[kind]) .. name
-- Of conversations that leave Redis, or come back, the indexes are not whole.
local OF_CONVERSATIONS = {replies = true, tree = true, stubs = true, latest = true}
if OF_CONVERSATIONS[kind] and redis.call("EXISTS", KEY.left) == 1 then return reply end

local group = string.match(name, "^[^:]*") -- for the kinds "group", "coming" and "siteranked"

local function has(list, wanted)
  for _, each in ipairs(list) do if each == wanted then return true end end
  return false
end

local function is_in_tree(member)
  local comment = find_comment(string.match(member, " (%d+)$") or "")
  if not comment or comment.article ~= name or not comment.path then return false end
  return tree_member(comment.path, comment.number) == member and (kind == "tree" or comment.state)
end

local function is_reply(number)
  local article, parent, bare = unpack(redis.call("HMGET", KEY.comment .. number, "article", "parent", "bare"))
  return not bare and (parent or article) == string.match(name, "^%d+")
end

local function is_visible_comment(number)
  local article, state = unpack(redis.call("HMGET", KEY.comment .. number, "article", "state"))
  return article == name and not state
end

-- Whether a comment may be in this place: it is one of the places of its article, or the comment is being moved.
local function is_recent(number)
  local article, state = unpack(redis.call("HMGET", KEY.comment .. number, "article", "state"))
  if not article then return redis.call("HEXISTS", KEY.archived, "conversations") == 1 end -- it may be archived
  if state then return false end
  if redis.call("ZSCORE", KEY.left, article) then return true end
  if redis.call("ZSCORE", KEY.relisting, article .. " " .. name) then return true end
  local hash = KEY.article .. article
  local groups, is_hidden = unpack(redis.call("HMGET", hash, "groups", "state"))
  if is_hidden or redis.call("EXISTS", hash) == 0 then return false end
  return not groups or has(recent.places_of(split(groups)), name)
end

-- Whether an article may be among those of the user that are held.
local function is_held(number)
  local poster, state = unpack(redis.call("HMGET", KEY.article .. number, "poster", "state"))
  if not poster and not state then return redis.call("HEXISTS", KEY.archived, "count:removed") == 1 end -- it may be archived
  return state and string.lower(poster or name) == name
end

-- Whether the group has a weight of its own for the order of the index, or gets one.
local function is_site_ranked()
  local ranking, weight = read_ranking({group}), WEIGHTED_BY[string.match(name, "[^:]*$")]
  local own, coming = ranking.own[group], ranking.next_weights[group]
  return weight and (own and rawget(own, weight) or coming and rawget(coming, weight))
end

-- Whether the sorted set may have this member. If the article's hash lacks the field to compare with, the member stays:
-- it helps to repair the hash by hand.
local function belongs(member)
  if kind == "groups" then -- it has an article here, is listed by an admin, or has archived articles
    if redis.call("EXISTS", KEY.group .. member .. ":time") == 1 then return true end
    if redis.call("HEXISTS", KEY.place .. member, "listed") == 1 then return true end
    return redis.call("HEXISTS", KEY.archived, "count:group:" .. member) == 1
  end
  if kind == "posters" then return is_user(member) end
  if kind == "tree" or kind == "stubs" then return is_in_tree(member) end
  local number = tonumber(member)
  if not number or string.format("%016.0f", number) ~= member then return false end
  if kind == "replies" then return is_reply(string.format("%.0f", number)) end
  if kind == "recent" then return is_recent(string.format("%.0f", number)) end
  if kind == "latest" then return is_visible_comment(string.format("%.0f", number)) end
  local hash = KEY.article .. string.format("%.0f", number)
  if kind == "held" then return is_held(string.format("%.0f", number)) end
  if redis.call("EXISTS", hash) == 0 or redis.call("HEXISTS", hash, "state") == 1 then return false end
  if kind == "links" then return redis.call("HGET", hash, "link_digest") == name end
  if kind == "timeline" then return string.lower(redis.call("HGET", hash, "poster") or name) == name end
  if kind == "coming" and redis.call("HEXISTS", KEY.ranking, "next:" .. group) == 0 then return false end
  if kind == "siteranked" and not is_site_ranked() then return false end
  if kind ~= "group" and kind ~= "coming" and kind ~= "siteranked" then return true end
  return has(split(redis.call("HGET", hash, "groups") or group), group)
end

local cursor, found = unpack(redis.call("ZSCAN", index, ARGV[10], "COUNT", COUNT))
for i = 1, #found, 2 do
  if not belongs(found[i]) then expect_member(index, found[i], nil) end -- nil: it has to be missing
end
reply[1] = cursor
return reply
