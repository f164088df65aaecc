"""
The newest visible comments of the site and of each group, by time: an index in each partition (a share of the data),
which the scripts of comments keep. It has 10,000 comments of the site and 1,000 of a group at most; pages of older ones
come from the database (see `resolvers/older_comments.py`). A *place* is one of these indexes: `all`, or `group:NAME`.

If an article changes its groups or its state, its comments enter and leave these places in steps. What is left to be
done is noted in `relisting`. Readers leave out what is not visible, or in other groups, whatever the indexes have.
"""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, suppress
from operator import attrgetter

from store import index_filling, keys, moving
from store.client import Command
from store.errors import StoreUnavailable
from store.index_filling import note_complete
from store.keys import GROUP
from store.kinds import Backup, Check, Kind, Text
from store.listings import Listing
from store.maintenance import scan
from store.queries import Read
from store.ranking.config import RECENT_FIELD
from store.scripts.registry import Script
from store.site import Site

RELIST_COMMENTS = Script("relist_comments")

FAULT = "filling the indexes of recent comments failed"
ALL = "all"  # the place that has the comments of the whole site
PLACE_NAME = Text("PLACE", rf"(?:{ALL}|group:{GROUP.pattern})")

RECENT = Kind(
    "recent",
    "zset",
    parts=(PLACE_NAME,),
    holds="numbers of the newest visible comments by time: 10,000 of the site, 1,000 of each group",
    lifetime="while there are any",
    written_by="comment, import, delete, regroup, all commands of moderators",
    backup=Backup.DERIVED,
    rebuilt_from="the comments",
    check=Check.MEMBERS,
)
FLOORS = Kind(
    "floors",
    "hash",
    parts=(),
    holds="by place, the time up to which `recent` has no comments any more (unix milliseconds)",
    lifetime="while there are any",
    written_by="the same",
    rebuilt_from="the comments",
)
RELISTING = Kind(
    "relisting",
    "zset",
    parts=(),
    holds="numbers of articles, and places of `recent` which their comments enter or leave, by when this was noted",
    lifetime="until that is done",
    written_by="regroup, remove, approve, delete",
)


def listing(site: Site, group: str | None) -> Listing:
    """The comments that Redis has of the site or a group, the newest first."""
    place = _place(group)
    indexes = tuple(RECENT(partition, place) for partition in range(site.partitions))
    return Listing(f"comments:{place}", indexes, by_time=True, may_be_archived=False)


def floors(site: Site, group: str | None) -> list[Read[int]]:
    """
    For each partition the time up to which `listing` lacks comments (unix milliseconds), 0 if it has all. To be read
    after the page, as more may leave the index meanwhile.
    """
    call = moving.new_call()  # so that these reads are always sent
    return [Read(("HGET", FLOORS(partition), _place(group)), _floor, (call,)) for partition in range(site.partitions)]


async def relist(site: Site, article: int) -> None:
    """
    Move the comments of an article into the indexes that its state and its groups ask for, and out of others. One round
    trip, and one for each place and 1,000 comments. If the partition does not answer, or takes no writes, the rest is
    left to the task of `removals.removing`.
    """
    with suppress(StoreUnavailable):
        partition = site.partition_of_article(article)
        noted = await site.redis.run(("ZRANGE", RELISTING(partition), 0, -1))
        await _relist(site, partition, [each for each in noted if each.startswith(f"{article} ")])


async def relist_all(site: Site, partition: int) -> None:
    """
    Do what `relist` does for all articles that are noted in a partition.

    Raises:
        StoreUnavailable: the partition does not answer, or takes no writes.
    """
    await _relist(site, partition, await site.redis.run(("ZRANGE", RELISTING(partition), 0, -1)))


async def fill(site: Site) -> None:
    """
    Fill the indexes of a store that an earlier version made. Safe to repeat. Passes over all keys once.

    Raises:
        StoreUnavailable: the store does not answer, or takes no writes.
    """
    async for found in scan.known_keys(site, lambda count: None):
        trees = [key for key in found if key.kind is keys.tree]
        groups = await site.redis.pipeline(
            [("HGET", keys.article(key.partition, key.suffix), "groups") for key in trees]
        )
        for key, names in zip(trees, groups, strict=True):
            places = [ALL, *(f"group:{name}" for name in (names or "").split())]
            await _relist(site, key.partition, [f"{key.suffix} {place}" for place in places])
    await note_complete(site, RECENT_FIELD)


def filling(site: Site) -> AbstractAsyncContextManager[None]:
    """Fill the indexes, if they are not complete, as long as the context is open."""
    return index_filling.filling(
        site, lease="recent", is_complete=attrgetter("has_recent_comments"), fill=fill, fault=FAULT
    )


async def _relist(site: Site, partition: int, noted: Sequence[str]) -> None:
    """Each of `noted` is a text `NUMBER PLACE`: an article, and a place that its comments enter or leave."""
    for each in noted:
        article, _, place = each.partition(" ")
        command: Command = site.command(RELIST_COMMENTS, partition, site.partitions, article, place)
        while await site.redis.run(command):
            pass


def _place(group: str | None) -> str:
    return ALL if group is None else f"group:{group}"


def _floor(call: int, reply: str | None) -> int:
    return int(float(reply or 0))
