-- Roles: the words of the field `roles` of a user, each admin=MS, moderator=MS or moderator:GROUP=MS, with the time of
-- its grant (unix milliseconds).
-- requires: prelude
-- from prelude: any_actor() -> username | false,
--   bans (the words of the actor's bans: site=UNTIL or group:NAME=UNTIL (unix milliseconds, 0 for good)),
--   require_not_banned_from(place)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
-- ARGV  1 name of the actor   2 words of the actor's bans   3 now (unix milliseconds)
--       4-6 settings of ranking and voting, for prelude.lua
--       7 the actor's roles, in words such as moderator:GROUP=TIME
local OPERATOR = "operator" -- who acts by a command of the shell, and is no user

-- The name of the actor and the words of their roles: as the caller has read them or, if they are in this partition,
-- as they are now. Fails with CLOSED if the partition takes no writes, and with BANNED if the actor is banned from the
-- site.
local function authority() --> (username, words of roles)
  local name, roles = any_actor(), ARGV[7]
  if not name then error({err = "BANNED 0 -"}) end -- the user is being deleted
  if name ~= OPERATOR then
    local known, stored, stored_bans = unpack(redis.call("HMGET", KEY.user .. string.lower(name), "name", "roles", "bans"))
    if known then roles, bans = stored or "", stored_bans or "" end
    if bans ~= "" then require_not_banned_from("site") end
  end
  return name, roles
end

local function has_role(roles, role)
  return string.find(" " .. roles, " " .. role .. "=", 1, true) ~= nil
end

local function is_admin(roles)
  return has_role(roles, "admin")
end

local function moderates_site(roles)
  return is_admin(roles) or has_role(roles, "moderator")
end

-- Whether somebody is a moderator of the site, or of one of some groups.
local function moderates(roles, groups)
  if moderates_site(roles) then return true end
  for _, group in ipairs(groups) do
    if has_role(roles, "moderator:" .. group) then return true end
  end
  return false
end

-- Whether a user with `roles` may act in `groups` on a user with `subject_roles`: admins on everybody, moderators on users of
-- a lower role.
local function outranks(roles, subject_roles, groups)
  if is_admin(roles) then return true end
  if moderates_site(roles) then return not moderates_site(subject_roles) end
  return moderates(roles, groups) and not moderates(subject_roles, groups)
end

-- Whether somebody may act on an article in one group, or with "" on the whole article. The whole article is for moderators
-- of the site, and for those who moderate all of its groups. Only admins may moderate their own articles.
local function may_moderate_article(moderator, roles, article, group)
  if is_admin(roles) then return true end
  if article.poster == moderator then return false end
  local poster_roles = redis.call("HGET", KEY.user .. string.lower(article.poster), "roles") or ""
  if group ~= "" then return outranks(roles, poster_roles, {group}) end
  local moderates_all = article.groups[1] ~= nil
  for _, each in ipairs(article.groups) do moderates_all = moderates_all and moderates(roles, {each}) end
  return (moderates_site(roles) or moderates_all) and outranks(roles, poster_roles, article.groups)
end

-- Whether somebody may act on a comment of a poster with these roles. `groups` are all groups of its article, or the one in
-- whose name it is done. Without `poster_roles`, the roles are read here: the poster is in this partition. Only admins
-- may moderate their own comments.
local function may_moderate_comment(moderator, roles, poster, poster_roles, groups)
  if is_admin(roles) then return true end
  if poster == moderator then return false end
  poster_roles = poster_roles or redis.call("HGET", KEY.user .. string.lower(poster), "roles") or ""
  return outranks(roles, poster_roles, groups)
end
