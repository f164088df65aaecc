"""
Follows. Each has two sides: the followees of the follower, which decide, and the followers of the followee.

`follow.lua` changes both if the two users are in one partition. Else the followers change as an effect in another
partition (`effects`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from store import bans, effects, keys, records
from store.client import Command
from store.effects import NewEntry
from store.errors import NotFound, SelfFollow, Unauthenticated
from store.log import Entry
from store.records import INSTANTS, Position
from store.scripts.registry import Script
from store.site import Actor, Site, actor_slot

FOLLOW = Script("follow")
MARK_SEEN = Script("mark_seen")


@dataclass(frozen=True, slots=True)
class Followed:
    follower: str
    followee: str
    changed: bool


class Follows:
    def __init__(self, site: Site) -> None:
        self._site = site

    async def follow(self, follower: Actor, followee: str) -> Followed:
        """
        Follow a user. Safe to repeat. Two round trips, one more with a session, one more to another partition.

        If the followee's partition does not answer, the followers change as soon as it does.

        Raises:
            NotFound: there is no such user.
            SelfFollow: you cannot follow yourself.
            Unauthenticated, Banned: the session has ended, or the follower is banned from the site.
        """
        follower, followee = await self._stored_names(follower, followee)
        return await self._set("followed", follower, followee)

    async def unfollow(self, follower: Actor, followee: str) -> Followed:
        """Stop following a user. Costs and raises the same as `follow`."""
        follower, followee = await self._stored_names(follower, followee)
        return await self._set("unfollowed", follower, followee)

    async def mark_seen(self, viewer: Actor, position: Position) -> str:
        """
        Mark a feed as seen up to a position, and return the viewer's username. One round trip.

        The mark never moves back.

        Raises:
            Unauthenticated: the session has ended.
        """
        p = actor_slot(viewer) % self._site.partitions
        mark = (repr(position.value), position.member, INSTANTS[-1])
        status, *reply = await self._site.run(MARK_SEEN, p, viewer, *mark)
        if status == "unauthenticated":
            raise Unauthenticated
        username: str = reply[0]
        return username

    async def _stored_names(self, follower: Actor, followee: str) -> tuple[str, str]:
        """Both names as their owners wrote them when they registered."""
        follower = await self._site.username(follower)
        own, other = (keys.user(self._site.home_of_user(name), name) for name in (follower, followee))
        (banned, left), name = await self._site.redis.pipeline(
            [("HMGET", own, "bans", "left"), ("HGET", other, "name")]
        )
        if left:
            raise Unauthenticated
        bans.refuse_banned(banned or "", self._site.clock())
        if name is None or records.is_pseudonym(name):
            raise NotFound(f"there is no user:{followee.lower()}", "userId")
        if name == follower:
            raise SelfFollow
        return follower, name

    async def _set(self, kind: str, follower: str, followee: str) -> Followed:
        (changed,) = await set_all(self._site, kind, [(follower, followee)])
        return Followed(follower, followee, changed)


async def set_all(site: Site, kind: str, pairs: Sequence[tuple[str, str]]) -> list[bool]:
    """
    Begin or end follows, given as pairs of follower and followee, and return which of them have changed.

    `kind` is that of their entries in the log: followed or unfollowed. One round trip, one more if a follow is between
    two partitions.
    """
    now = site.clock()
    replies = await site.redis.pipeline([_command(site, kind, *pair, now) for pair in pairs])
    entries: list[NewEntry] = []
    for (follower, followee), (status, last, before) in zip(pairs, replies, strict=True):
        partition, target = site.home_of_user(follower), site.home_of_user(followee)
        if status == "changed" and last:
            values = {"followee": followee, "since": str(now)}
            entry = Entry(partition, last, kind, now, follower, f"user:{followee.lower()}", values)
            entries.append(NewEntry(entry, target, before))
        elif last:  # the process that changed it may have died then, or the first reply was lost
            await effects.apply_missing(site, partition, target, last)
    if entries:
        await effects.apply(site, entries)
    return [status == "changed" for status, _, _ in replies]


def _command(site: Site, kind: str, follower: str, followee: str, now: int) -> Command:
    partition, target = site.home_of_user(follower), site.home_of_user(followee)
    script_keys = [
        keys.following(partition, follower),
        keys.closed(partition),
        keys.log(partition),
        keys.events(partition),
        keys.effects(partition),
    ]
    if partition == target:
        script_keys.append(keys.followers(target, followee))
    return FOLLOW.command(script_keys, kind, follower, followee, now, target)
