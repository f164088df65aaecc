"""
Follows of users and of groups. Each has two sides: what the follower follows, which decides, and the followers.

`follow.lua` changes both if they are in one partition, a share of the data. Else the followers change a moment later,
as an effect in another partition (`effects`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from store import effects, keys, records, standing_bans, validation
from store.client import Command
from store.effects import NewEntry
from store.errors import Invalid, NotFound, SelfFollow, Unauthenticated
from store.followed import GROUPS, MAX_GROUPS, USERS, Followed
from store.hidden import BLOCKED
from store.kept_answers import new_call
from store.log import Entry
from store.records import INSTANTS, Position
from store.scripts.registry import Script
from store.site import Actor, Site, actor_slot

FOLLOW = Script("follow")
MARK_SEEN = Script("mark_seen")


@dataclass(frozen=True, slots=True)
class Follow:
    """A follow that was begun or ended. `followee` is the name of a user, as written, or of a group."""

    follower: str
    followee: str
    changed: bool


class Follows:
    """Commands that begin and end follows, and mark a feed as seen."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def follow(self, follower: Actor, followee: str) -> Follow:
        """
        Follow a user. Safe to repeat. Two round trips, one more with a session, one more to another partition.
        `follow.lua` refuses a user whom the follower blocks: no follow outlives a block that begins at the same time.

        If the followee's partition does not answer, the followers change as soon as it does.

        Raises:
            NotFound: there is no such user.
            SelfFollow: you cannot follow yourself.
            Invalid: the follower blocks the user.
            Unauthenticated, Banned: the session has ended, or the follower is banned from the site.
        """
        follower, followee = await self._stored_names(follower, followee)
        return await self._set(USERS, follower, followee, begins=True)

    async def unfollow(self, follower: Actor, followee: str) -> Follow:
        """Stop following a user, also one who is blocked. Costs and raises the same as `follow` otherwise."""
        follower, followee = await self._stored_names(follower, followee)
        return await self._set(USERS, follower, followee, begins=False)

    async def follow_group(self, follower: Actor, group: str) -> Follow:
        """
        Follow a group. Safe to repeat. Costs the same as `follow`.

        Raises:
            NotFound: no group has this name.
            Invalid: no group can have it, or the follower follows `MAX_GROUPS` groups.
            Unauthenticated, Banned: as for `follow`.
        """
        name = validation.group(group, "group")
        lookups: list[Command] = [
            ("ZSCORE", keys.groups(partition), name) for partition in range(self._site.partitions)
        ]
        follower, found = await self._follower_and(follower, lookups)
        if all(each is None for each in found):
            raise NotFound(f"there is no group:{name}", "group")
        return await self._set(GROUPS, follower, name, begins=True)

    async def unfollow_group(self, follower: Actor, group: str) -> Follow:
        """Stop following a group, also one that is no more. Costs and raises the same as `follow_group` otherwise."""
        name = validation.group(group, "group")
        follower, _ = await self._follower_and(follower, [])
        return await self._set(GROUPS, follower, name, begins=False)

    async def mark_seen(self, viewer: Actor, position: Position) -> str:
        """
        Mark a feed as seen up to a position, and return the viewer's username. One round trip.

        The mark never moves back.

        Raises:
            Unauthenticated: the session has ended.
        """
        partition = actor_slot(viewer) % self._site.partitions
        mark = (repr(position.value), position.member, INSTANTS[-1])
        status, *reply = await self._site.run(MARK_SEEN, partition, viewer, *mark)
        if status == "unauthenticated":
            raise Unauthenticated
        username: str = reply[0]
        return username

    async def _stored_names(self, follower: Actor, followee: str) -> tuple[str, str]:
        """Both names as their owners wrote them when they registered."""
        account = keys.user(self._site.partition_of_user(followee), followee)
        follower, (name,) = await self._follower_and(follower, [("HGET", account, "name")])
        if name is None or records.is_pseudonym(name):
            raise NotFound(f"there is no user:{followee.lower()}", "userId")
        if name == follower:
            raise SelfFollow
        return follower, name

    async def _follower_and(self, follower: Actor, commands: Sequence[Command]) -> tuple[str, list[Any]]:
        """The name of the follower, who may follow, and the replies of some commands. One round trip for both."""
        follower = await self._site.username(follower)
        account = keys.user(self._site.partition_of_user(follower), follower)
        (bans, leaver), *replies = await self._site.redis.pipeline([("HMGET", account, "bans", "left"), *commands])
        if leaver:  # the user is being deleted
            raise Unauthenticated
        standing_bans.refuse_banned(bans or "", self._site.clock())
        return follower, replies

    async def _set(self, followed: Followed, follower: str, followee: str, *, begins: bool) -> Follow:
        (status,) = await set_all(self._site, followed, [(follower, followee)], begins=begins)
        if status == "blocked":
            raise Invalid(f"you block {followee}: unblock them to follow them", "userId")
        if status == "full":
            raise Invalid(f"you follow {MAX_GROUPS} groups, which is the most: leave one first", "group")
        return Follow(follower, followee, status == "changed")


async def set_all(site: Site, followed: Followed, pairs: Sequence[tuple[str, str]], *, begins: bool) -> list[str]:
    """
    Begin or end follows of users or of groups, given as pairs of follower and followee. Returns for each what came of
    it: changed, same, full if the follower follows as many as is allowed, or blocked if they block the user. One round
    trip, one more if a follow is between two partitions.
    """
    now = site.clock()
    replies = await site.redis.pipeline([_command(site, followed, *pair, now, begins=begins) for pair in pairs])
    entries: list[NewEntry] = []
    # `last` is the id of the last entry of the log with an effect in the followee's partition, `before` that of the one
    # before it with such an effect
    for (follower, followee), (status, last, before) in zip(pairs, replies, strict=True):
        partition, target = site.partition_of_user(follower), followed.partition_of(site, followee)
        if status == "changed" and last:
            values = {followed.field: followee, "since": str(now)}
            entry = Entry(
                partition, last, followed.kind(begins=begins), now, follower, followed.subject(followee), values
            )
            entries.append(NewEntry(entry, target, before))
        elif last:  # the process that changed it may have died then, or the first reply was lost
            await effects.apply_missing(site, partition, target, last)
    if entries:
        await effects.apply(site, entries)
    return [str(status) for status, _, _ in replies]


def _command(site: Site, followed: Followed, follower: str, followee: str, now: int, *, begins: bool) -> Command:
    partition, target = site.partition_of_user(follower), followed.partition_of(site, followee)
    script_keys = [
        followed.following(partition, follower),
        keys.closed(partition),
        keys.log(partition),
        keys.events(partition),
        effects.NOTED(partition),
        BLOCKED(partition, follower),
    ]
    if partition == target:
        script_keys.append(followed.followers(target, followee))
    entry = (followed.kind(begins=begins), followed.subject(followee), followed.field)
    return FOLLOW.command(
        script_keys, "begin" if begins else "end", follower, followee, now, target, *entry, followed.most, new_call()
    )
