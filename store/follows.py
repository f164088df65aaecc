"""Follows. Each has two sides: the followers of the followee, written first, and the followees of the follower."""

from dataclasses import dataclass

from store import keys
from store.client import Command
from store.errors import NotFound, SelfFollow, Unauthenticated
from store.records import INSTANTS, Position
from store.scripts.registry import FOLLOW, MARK_SEEN
from store.sessions import Actor, Session, Sessions, actor_slot
from store.site import Site


@dataclass(frozen=True, slots=True)
class Followed:
    follower: str
    followee: str
    changed: bool


class Follows:
    """
    Commands on follows. Each side is written in its own partition by an idempotent script. If the second write is lost,
    repeating the command completes it; `verify` finds and repairs it.
    """

    def __init__(self, site: Site, sessions: Sessions) -> None:
        self._site = site
        self._sessions = sessions

    async def follow(self, follower: Actor, followee: str) -> Followed:
        """
        Follow a user. Safe to repeat. Three round trips, four with a session.

        Raises:
            NotFound: there is no such user.
            SelfFollow: you cannot follow yourself.
            Unauthenticated: the session has ended.
        """
        follower, followee = await self._stored_names(follower, followee)
        return await self._set(follower, followee, self._site.clock())

    async def unfollow(self, follower: Actor, followee: str) -> Followed:
        """Stop following a user. Costs and raises the same as `follow`."""
        follower, followee = await self._stored_names(follower, followee)
        return await self._set(follower, followee, "")

    async def mark_seen(self, viewer: Actor, position: Position) -> str:
        """
        Mark a feed as seen up to a position, and return the viewer's username. One round trip.

        The mark never moves back.

        Raises:
            Unauthenticated: the session has ended.
        """
        p = actor_slot(viewer) % self._site.partitions
        mark = (repr(position.value), position.member, INSTANTS[-1])
        status, *reply = await self._sessions.run(MARK_SEEN, p, viewer, *mark)
        if status == "unauthenticated":
            raise Unauthenticated
        username: str = reply[0]
        return username

    async def _stored_names(self, follower: Actor, followee: str) -> tuple[str, str]:
        """Both names as their owners wrote them when they registered."""
        if isinstance(follower, Session):
            follower = await self._sessions.username(follower)
        key = keys.user(self._site.home_of_user(followee), followee)
        name = await self._site.redis.run(("HGET", key, "name"))
        if name is None:
            raise NotFound(f"there is no user:{followee.lower()}", "userId")
        if name == follower:
            raise SelfFollow
        return follower, name

    async def _set(self, follower: str, followee: str, since: int | str) -> Followed:
        await self._site.redis.run(followers_side(self._site, follower, followee, since))
        (status,) = await self._site.redis.run(following_side(self._site, follower, followee, since))
        return Followed(follower, followee, status == "changed")


def followers_side(site: Site, follower: str, followee: str, since: int | str) -> Command:
    """Add a follower to those of a followee, or with `since` "" remove it. Instants are unix milliseconds."""
    p = site.home_of_user(followee)
    return FOLLOW.command([keys.followers(p, followee), keys.closed(p)], follower, since)


def following_side(site: Site, follower: str, followee: str, since: int | str) -> Command:
    """Add a followee to those of a follower, or remove it, with an entry in the log of the follower's partition."""
    p = site.home_of_user(follower)
    script_keys = [keys.following(p, follower), keys.closed(p), keys.log(p), keys.events(p)]
    return FOLLOW.command(script_keys, followee, since, follower, site.clock())
