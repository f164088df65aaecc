-- Create the user for an identity (a person known to an identity provider: a subject of an issuer), if the username is
-- free. And update the profile and the roles by the claims of a token of the issuer, if it is newer than those before.
-- requires: name_digests, profiles, role_words
-- from name_digests: pseudonym_of(departed, namekey, name) -> pseudonym | false
-- from prelude: require_writable(), append_log(kind, actor, subject, ...) -> entry id, publish(kind, number, name, id, ...)
-- from profiles: write_profile(name, changes)
-- from actions: record_action(slot, kind, subject, moderator, fields) -> (number, entry id)
-- from roles: OPERATOR (who acts by a command of the shell, and is no user), has_role(roles, role)
-- from role_words: write_role(lower_name, name, role, group)
-- KEY   keys of this partition (a share of the data) by kind; some are prefixes: a number or a name is appended
--       identities: which persons at log-in providers a user is
--       departed: pseudonyms of deleted users, by digest of the name   namekey: the secret for digests of names
-- ARGV  1-6 for prelude.lua: 1-2 the actor (who acts), 3 now (unix milliseconds), 4-6 settings of ranking and voting
--       7 username   8 slot of the user (one of 1,024; it decides their partition)   9 digest of the subject
--       10 issuer and subject, separated by a space
--       11 when the token was issued (unix milliseconds), 0 if it does not say
--       12 "1" if the user is to be made, or ""
--       13 words of the roles that the claims give, "-" if the issuer gives none
--       from 14 on: fields of the profile, each followed by its value, "" for none
-- Reply "made" | "taken" | "missing" if there is no such user | "changed" | "same"
--
-- If the reply is lost, the script is sent again and finds the subject with the user.
local username, issuer_and_subject, claimed_roles = ARGV[7], ARGV[10], ARGV[13]
require_writable()
local lower_name, digest, issued_at = string.lower(username), ARGV[9], tonumber(ARGV[11])
local account, subjects, status = KEY.user .. lower_name, KEY.identities .. lower_name, "same"
-- Fields of `subjects`: the digest itself, `iat:` and the digest for the time of the newest token that has changed the profile,
-- `claimed:` and the digest for the roles that its claims gave.
local name, is_leaving = unpack(redis.call("HMGET", account, "name", "left"))
if ARGV[12] == "1" and redis.call("HEXISTS", subjects, digest) == 0 then
  if name or is_leaving or pseudonym_of(KEY.departed, KEY.namekey, lower_name) then return "taken" end
  name, status = username, "made"
  redis.call("HSET", account, "name", name, "joined", ARGV[3], "karma", 0)
  local id = append_log("registered", name, "user:" .. lower_name, "name", name, "joined", ARGV[3])
  publish("registered", 0, name, id)
end
if not name then return "missing" end
redis.call("HSETNX", subjects, digest, issuer_and_subject)
if status ~= "made" and issued_at <= tonumber(redis.call("HGET", subjects, "iat:" .. digest) or 0) then return status end
if issued_at > 0 then redis.call("HSET", subjects, "iat:" .. digest, ARGV[11]) end

write_profile(name, {unpack(ARGV, 14)})

-- Grants or revokes a role in the name of the operator, who has the file of issuers.
local function change_role(kind, word)
  local role, group = string.match(word, "^(%l+):?(.*)$")
  local reason = "by the claims of " .. string.match(issuer_and_subject, "^%S+")
  record_action(ARGV[8], kind, "user:" .. lower_name, OPERATOR, {role = role, group = group, reason = reason})
  write_role(lower_name, name, role, group)
end

-- Grants the roles of the claims that the user does not hold, and revokes those that earlier claims gave and these do not. A
-- role that a moderator has granted stays.
if claimed_roles ~= "-" then
  local held, by_claims = redis.call("HGET", account, "roles") or "", {}
  local claimed = " " .. (redis.call("HGET", subjects, "claimed:" .. digest) or "") .. " "
  for word in string.gmatch(claimed_roles, "%S+") do
    local has = has_role(held, word)
    if not has then change_role("grant_role", word) end
    if not has or string.find(claimed, " " .. word .. " ", 1, true) then by_claims[#by_claims + 1] = word end
  end
  for word in string.gmatch(claimed, "%S+") do
    local stays = string.find(" " .. claimed_roles .. " ", " " .. word .. " ", 1, true)
    if not stays and has_role(held, word) then change_role("revoke_role", word) end
  end
  if by_claims[1] then
    redis.call("HSET", subjects, "claimed:" .. digest, table.concat(by_claims, " "))
  else
    redis.call("HDEL", subjects, "claimed:" .. digest)
  end
end
return status == "made" and status or "changed"
