"""Who follows whom. The two sides live in two partitions: the followers first, then what the follower follows."""

from dataclasses import dataclass

from store import actor_scripts, keys
from store.errors import NotFound, SelfFollow, Unauthenticated
from store.records import INSTANTS, Position
from store.scripts.registry import MARK_SEEN, Script
from store.sessions import Actor, Session, Sessions, actor_slot
from store.site import Site

FOLLOW = Script("follow")


@dataclass(frozen=True, slots=True)
class Followed:
    follower: str
    followee: str
    changed: bool


class Follows:
    """
    Both sides are set by one idempotent script each. Where the second was lost, doing it again completes it, and
    `verify` finds and mends it.
    """

    def __init__(self, site: Site, sessions: Sessions) -> None:
        self._site = site
        self._sessions = sessions

    async def follow(self, follower: Actor, followee: str) -> Followed:
        """
        Follow a user; twice is harmless. Four round trips at most.

        Raises:
            NotFound: there is no such user.
            SelfFollow: nobody follows themselves.
        """
        follower, followee = await self._both(follower, followee)
        return await self._set(follower, followee, self._site.clock())

    async def unfollow(self, follower: Actor, followee: str) -> Followed:
        """Follow a user no more; twice is harmless. Raises what `follow` raises."""
        follower, followee = await self._both(follower, followee)
        return await self._set(follower, followee, "")

    async def mark_seen(self, viewer: Actor, position: Position) -> str:
        """Move the viewer's mark forward, never back, and return their name. One round trip."""
        p = actor_slot(viewer) % self._site.partitions
        mark = (repr(position.value), position.member, INSTANTS[-1])
        status, *reply = await actor_scripts.run(self._site, self._sessions, MARK_SEEN, p, viewer, *mark)
        if status == "unauthenticated":
            raise Unauthenticated
        username: str = reply[0]
        return username

    async def _both(self, follower: Actor, followee: str) -> tuple[str, str]:
        """Both names as their owners write them."""
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
        p = self._site.home_of_user(followee)
        await self._site.redis.run(FOLLOW.command([keys.followers(p, followee), keys.closed(p)], follower, since))
        p = self._site.home_of_user(follower)
        (status,) = await self._site.redis.run(
            FOLLOW.command([keys.following(p, follower), keys.closed(p)], followee, since)
        )
        return Followed(follower, followee, status == "changed")
