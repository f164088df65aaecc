"""
What users have saved, to read it later: articles and comments, by the time of saving. A list is in the partition (a
share of the data) of its owner, and private: there are no entries in the log and no rows in the database. A deleted
thing stays in it until the list is read: then `drop` takes it out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from store.client.connection import encoded
from store.errors import Invalid, Unauthenticated
from store.keys import ARTICLE, USERNAME, member
from store.kinds import Backup, Check, Kind
from store.listings import Listing
from store.queries import Read
from store.scripts.registry import Script
from store.site import Actor, Site, actor_slot

DROP_SAVED = Script("drop_saved")
SAVE = Script("save")

MAX_SAVED = 10_000  # of a user
SAVED = Kind(
    "saved",
    "zset",
    parts=(USERNAME,),
    holds="numbers of the articles and comments that a user has saved, by time",
    lifetime="while there are any",
    written_by="save, unsave, reading deleted ones",
    backup=Backup.COPIED,
    record="saved",
    check=Check.LIST,
    member=ARTICLE,  # comments have numbers of the same sequence
)


@dataclass(frozen=True, slots=True)
class Saved:
    """Whose list of saved articles and comments was to change, and whether it has."""

    username: str
    changed: bool


async def save(site: Site, actor: Actor, number: int) -> Saved:
    """
    Add an article or a comment to what the actor has saved, as of now. The caller knows that it exists. Safe
    to repeat. One round trip.

    Raises:
        Invalid: the user has saved `MAX_SAVED` things already.
        Unauthenticated, Banned: the session has ended, or the actor is banned from the site.
    """
    return await _set(site, actor, number, limit=MAX_SAVED)


async def unsave(site: Site, actor: Actor, number: int) -> Saved:
    """
    Take an article or a comment out of what the actor has saved. Safe to repeat. One round trip.

    Raises:
        Unauthenticated, Banned: the session has ended, or the actor is banned from the site.
    """
    return await _set(site, actor, number, limit=0)


async def drop(site: Site, username: str, numbers: Sequence[int]) -> None:
    """
    Take deleted things out of what a user has saved. One round trip.

    Raises:
        StoreUnavailable: Redis does not answer, or takes no writes.
    """
    await site.redis.run(
        site.command(DROP_SAVED, site.partition_of_user(username), username.lower(), *map(member, numbers))
    )


def listing(site: Site, username: str) -> Listing:
    """What a user has saved, the latest first."""
    index = SAVED(site.partition_of_user(username), username)
    return Listing(f"saved:{username.lower()}", (index,), by_time=True, may_be_archived=False)


def among(site: Site, username: str, numbers: Sequence[int]) -> Read[list[bool]]:
    """Which of some articles and comments a user has saved."""
    index = SAVED(site.partition_of_user(username), username)
    return Read(encoded(("ZMSCORE", index, *map(member, numbers))), _are_there)


def _are_there(times: Sequence[float | None]) -> list[bool]:
    return [time is not None for time in times]


async def _set(site: Site, actor: Actor, number: int, limit: int) -> Saved:
    """Save an article or a comment, unless `limit` are saved; with a limit of 0, take it out."""
    status, *reply = await site.run(SAVE, actor_slot(actor) % site.partitions, actor, member(number), limit)
    if status == "unauthenticated":
        raise Unauthenticated
    if status == "full":
        raise Invalid(f"a user saves at most {limit} articles and comments", "subjectId")
    (username,) = reply
    return Saved(username, status == "changed")
