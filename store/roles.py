"""
Roles: administrators and moderators of the whole site, and moderators of groups. They are in the hashes of users.

What a moderator does is checked with the roles as they are stored, never as they were cached: `read_authority` reads
them, and the script of a command checks them again if the user is in its partition, a share of the data.
"""

from asyncio import sleep
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from store import keys, moderation, moderation_records, records, validation
from store.client import Argument, Command
from store.errors import Invalid, NotAModerator, StoreUnavailable, Unauthenticated
from store.leases import Lease
from store.listings import Listing
from store.moderation import Moderated
from store.moderation_records import ModerationAction, ModerationKind, Role, RoleGrant
from store.scripts.registry import Script
from store.site import Session, Site, actor_slot, digest_and_name
from store.standing_bans import refuse_banned

READ_AUTHORITY = Script("read_authority")
SET_ROLE = Script("set_role")

LEASE, LEASE_TIME = "admins", 10_000  # name and lifetime (milliseconds) of the lease to take the role of an admin
ATTEMPTS, PAUSE = 100, 0.05  # seconds between two attempts to take the lease
SITE = "site"  # the scope of roles in the whole site


class Authority(NamedTuple):
    """Who acts as a moderator, with the words of the roles and bans as they are stored."""

    username: str
    roles: str
    bans: str = ""

    @property
    def grants(self) -> tuple[RoleGrant, ...]:
        return moderation_records.parse_roles(self.roles)


Moderator = str | Session | Authority  # an actor; an Authority is taken as it is
OPERATOR = Authority("operator", "admin=0")  # a command of the shell: no user may register this name


async def read_authority(site: Site, actor: Moderator) -> Authority:
    """
    The roles of an actor as they are stored now. One round trip; none for an Authority.

    Raises:
        Unauthenticated: the session has ended.
    """
    if isinstance(actor, Authority):
        return actor
    partition = actor_slot(actor) % site.partitions
    digest, username = digest_and_name(actor)
    name, roles, bans = await site.redis.run((*READ_AUTHORITY.beginning(partition), digest, username, site.clock()))
    if not name:
        raise Unauthenticated
    return Authority(name, roles, bans)


async def read_moderator(site: Site, actor: Moderator) -> Authority:
    """
    As `read_authority`, of an actor who has a role somewhere.

    Raises:
        Banned: the actor is banned from the site.
        NotAModerator: the actor has no role.
        Unauthenticated: the session has ended.
    """
    authority = await read_authority(site, actor)
    refuse_banned(authority.bans, site.clock())
    if not authority.grants:
        raise NotAModerator("only moderators may do this")
    return authority


async def run(site: Site, script: Script, partition: int, authority: Authority, *arguments: Argument) -> Any:
    """
    The reply of a script that requires `roles.lua`, in a partition, for a moderator. One round trip.

    Raises:
        Banned: the moderator is banned from the site.
    """
    words = (authority.roles, *arguments)
    return await site.reply(site.command(script, partition, *words, username=authority.username, bans=authority.bans))


def is_admin(grants: Iterable[RoleGrant]) -> bool:
    return any(grant.role is Role.ADMIN for grant in grants)


def moderates_site(grants: Iterable[RoleGrant]) -> bool:
    return any(grant.group is None for grant in grants)


def moderates(grants: Iterable[RoleGrant], groups: Iterable[str]) -> bool:
    """Whether these are roles of a moderator of the site, or of one of some groups."""
    places = {None, *groups}
    return any(grant.group in places for grant in grants)


async def grant(site: Site, actor: Moderator, username: str, role: Role, group: str | None, reason: str) -> Moderated:
    """
    Give a user a role in the whole site or, if a group is given, in that group. Two round trips.

    Raises:
        NotAModerator: the actor is no admin.
        NotFound: there is no such user.
        Invalid: an admin of a group, or a reason that is empty or too long.
        Unauthenticated, Banned: the session has ended, or the actor is banned.
    """
    group_or_empty, reason = _checked_group(role, group), validation.reason(reason)
    authority = await read_authority(site, actor)
    return await _set(site, authority, username, "grant_role", role, group_or_empty, reason)


async def revoke(site: Site, actor: Moderator, username: str, role: Role, group: str | None, reason: str) -> Moderated:
    """
    Take a role from a user. Two round trips; for that of an admin four more, as the last admin keeps it.

    Raises as `grant`, and Invalid also for the last admin.
    """
    group_or_empty, reason = _checked_group(role, group), validation.reason(reason)
    authority = await read_authority(site, actor)
    async with keeping_an_admin(site, username, role, authority):
        return await _set(site, authority, username, "revoke_role", role, group_or_empty, reason)


async def revert(site: Site, authority: Authority, action: ModerationAction, reason: str, note: str) -> Moderated:
    """
    Revert the grant or the revocation of a role: see `reverts.revert`. One round trip; for ADMIN four more.

    Raises:
        NotAModerator: the actor is no admin.
        AlreadyReverted: it was reverted before.
        Invalid: nobody else is an admin.
        NotFound: the user is gone.
    """
    username, role = records.username(action.subject_id), action.role
    assert username and role, action
    takes = role if action.kind is ModerationKind.GRANT_ROLE else None
    async with keeping_an_admin(site, username, takes, authority, field="actionId"):
        given = (role, action.group or "", reason, note, action.number)
        return await _set(site, authority, username, "revert", *given)


def moderators(site: Site, group: str | None) -> Listing:
    """Those who have a role in the site or in a group, the latest first."""
    scope = SITE if group is None else f"group:{group}"
    indexes = tuple(keys.moderators(partition, scope) for partition in range(site.partitions))
    return Listing(f"moderators:{scope}", indexes, by_time=True, may_be_archived=False)


def index_commands(site: Site, username: str, roles: str) -> Iterator[Command]:
    """The commands that write the roles of a user, the words of the field, to the indexes of moderators."""
    partition = site.partition_of_user(username)
    for scope, granted_at in index_of(moderation_records.parse_roles(roles)).items():
        yield ("ZADD", keys.moderators(partition, scope), granted_at, username)


def index_of(grants: Iterable[RoleGrant]) -> dict[str, int]:
    """The scopes of roles, with the time of the newest in each."""
    found: dict[str, int] = {}
    for each in grants:
        scope = SITE if each.group is None else f"group:{each.group}"
        found[scope] = max(found.get(scope, 0), each.granted_at)
    return found


async def admins(site: Site) -> list[str]:
    """The names of all admins. Two round trips."""
    return [name for name, grants in await granted(site) if is_admin(grants)]


async def granted(site: Site, group: str | None = None) -> list[tuple[str, tuple[RoleGrant, ...]]]:
    """Those with a role in the site, or in a group, and all their roles; by name. Two round trips."""
    indexes = moderators(site, group).indexes
    found = await site.redis.pipeline([("ZRANGE", index, 0, -1) for index in indexes])
    names = sorted({name for part in found for name in part}, key=str.lower)
    held = await site.redis.pipeline(
        [("HGET", keys.user(site.partition_of_user(name), name), "roles") for name in names]
    )
    return [(name, moderation_records.parse_roles(roles or "")) for name, roles in zip(names, held, strict=True)]


async def _set(
    site: Site,
    authority: Authority,
    username: str,
    kind: str,
    role: Role,
    group: str,
    reason: str,
    note: str = "",
    reverts: int | None = None,
) -> Moderated:
    partition, slot = site.partition_of_user(username), keys.slot(username)
    texts = (role.value, group, reason, note, reverts or "")
    reply = await run(site, SET_ROLE, partition, authority, username.lower(), slot, kind, *texts)
    if reply[0] == "refused":
        raise NotAModerator("only admins grant and revoke roles")
    moderation.refuse_about_user(reply[0], username.lower(), reverts)
    return moderation.moderated(reply)


@asynccontextmanager
async def keeping_an_admin(
    site: Site, username: str, role: Role | None, authority: Authority, field: str = "userId"
) -> AsyncIterator[None]:
    """
    While the context is open, a role may be taken from a user. For ADMIN it holds a lease, so that no other process
    takes that role from somebody meanwhile, and refuses to take it from the last admin.
    """
    if role is not Role.ADMIN or not is_admin(authority.grants):
        yield
        return
    lease = Lease(site, LEASE, LEASE_TIME)
    for _ in range(ATTEMPTS):
        if await lease.extend():
            break
        await sleep(PAUSE)
    else:
        raise StoreUnavailable("the roles of admins are being changed by another process")
    try:
        if [name.lower() for name in await admins(site)] == [username.lower()]:
            raise Invalid(f"{username} is the last admin", field)
        yield
    finally:
        await lease.end()


def _checked_group(role: Role, group: str | None) -> str:
    """The group of a role, or "" for one of the site."""
    if role is Role.ADMIN and group is not None:
        raise Invalid("an admin is one of the whole site: a group has moderators", "group")
    return "" if group is None else validation.group(group, "group")
