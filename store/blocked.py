"""
Users whom others block. A list is in the partition (a share of the data) of its owner, and private: there are no
entries in the log and no rows in the database, and the blocked notice nothing.
"""

from dataclasses import dataclass

from store import follows, keys
from store.errors import Invalid, NotFound, Unauthenticated
from store.followed import USERS
from store.hidden import BLOCKED
from store.listings import Listing
from store.queries import Read
from store.records import is_pseudonym
from store.scripts.registry import Script
from store.site import Actor, Site, actor_slot

BLOCK = Script("block")

MAX_BLOCKED = 1_000  # by a user


@dataclass(frozen=True, slots=True)
class Blocked:
    """The result of blocking or unblocking: who, whom, and whether anything has changed."""

    username: str
    blocked: str
    changed: bool


async def block(site: Site, actor: Actor, username: str) -> Blocked:
    """
    Block a user, which also ends the actor's follow of them. Safe to repeat. Three round trips, one more to another
    partition.

    Raises:
        NotFound: there is no such user.
        Invalid: the user is the actor, or the actor blocks `MAX_BLOCKED` users already.
        Unauthenticated, Banned: the session has ended, or the actor is banned from the site.
    """
    blocked = await _set(site, actor, username, limit=MAX_BLOCKED)
    await follows.set_all(site, USERS, [(blocked.username, blocked.blocked)], begins=False)
    return blocked


async def unblock(site: Site, actor: Actor, username: str) -> Blocked:
    """Do not block a user any more. Safe to repeat. Raises the same as `block`."""
    return await _set(site, actor, username, limit=None)


def listing(site: Site, username: str) -> Listing:
    """Whom a user blocks, the latest first."""
    index = BLOCKED(site.partition_of_user(username), username)
    return Listing(f"blocked:{username.lower()}", (index,), by_time=True, may_be_archived=False)


def blocks(site: Site, username: str, other: str) -> Read[bool]:
    """Whether a user blocks another one, whose name is as written."""
    return Read(("ZSCORE", BLOCKED(site.partition_of_user(username), username), other), _exists)


def _exists(reply: object) -> bool:
    return reply is not None


async def _set(site: Site, actor: Actor, username: str, limit: int | None) -> Blocked:
    """Block a user, unless `limit` are blocked; with None, do not block the user any more."""
    name = await site.redis.run(("HGET", keys.user(site.partition_of_user(username), username), "name"))
    if name is None or is_pseudonym(name):
        raise NotFound(f"there is no user:{username.lower()}", "userId")
    status, *reply = await site.run(BLOCK, actor_slot(actor) % site.partitions, actor, name, limit or 0)
    match status:
        case "unauthenticated":
            raise Unauthenticated
        case "self":
            raise Invalid("you cannot block yourself", "userId")
        case "full":
            raise Invalid(f"a user blocks at most {limit} users", "userId")
    return Blocked(reply[0], name, status == "changed")
