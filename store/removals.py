"""
Work that deletions and moderation leave to be done in steps. A deletion is answered once no list, inbox or thread shows
what was deleted; a task then removes the comments of a deleted article, and deleted comments without replies. When an
article is hidden or shown again, its comments leave lists and inboxes or come back. When a comment is hidden or shown
again, the comments above it may lose or get their places in the thread. A process that is interrupted leaves the rest
to a task of every server. All comments of an article are in its partition, a share of the data; what a step means for
users of other partitions are its effects.
"""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, suppress
from itertools import compress

from store import effects, keys, notifications, recent_comments
from store.background import repeating, turns
from store.client import Command
from store.errors import StoreUnavailable
from store.kinds import Kind
from store.log import Entry
from store.scripts.registry import Script
from store.site import Site

CONCERNED_USERS = Script("concerned_users")
FORGET_COMMENTS = Script("forget_comments")
UPDATE_LISTS = Script("update_lists")
REMOVE_THREAD = Script("remove_thread")

REMOVED_AT_ONCE = 50  # comments, in about a millisecond
LISTED_AT_ONCE = 50  # comments that leave lists or come back
STEPS_AT_ONCE = 20  # calls of a script, after which effects in other partitions are applied
FORGOTTEN_AT_ONCE = 500  # comments that are taken out of lists and inboxes, in about a millisecond
INTERVAL = 1.0  # seconds between two searches for comments to be removed

REMOVING = Kind(
    "removing",
    "zset",
    parts=(),
    holds="numbers of deleted articles whose comments are still to be removed, and of deleted comments that are; of "
    "articles whose comments leave lists or come back, and of comments that get or lose a place in a thread; by "
    "when it was noted",
    lifetime="until that is done",
    written_by="delete, remove, approve",
)

Members = defaultdict[int, defaultdict[str, list[str]]]  # of sorted sets, by partition and by key


async def remove_thread(site: Site, article: int) -> None:
    """
    Remove the comments of an article that was just deleted: all of up to 1,000 (`STEPS_AT_ONCE` times
    `REMOVED_AT_ONCE`). More are taken out of the lists of their posters and out of inboxes, and removed later.

    One round trip for `REMOVED_AT_ONCE` comments, and three for their effects in other partitions. Of more comments
    two for `FORGOTTEN_AT_ONCE`. If a partition does not answer, or takes no writes, the rest is left to the task.
    """
    with suppress(StoreUnavailable):
        partition = site.partition_of_article(article)
        if await _remove_some(site, partition, str(article)):
            await effects.complete(site, [partition])  # what is not in a list yet would be added to it after this
            await _forget_comments(site, partition, article)
        await effects.complete(site, [partition])  # also of another process that has removed some


async def update_places(site: Site, partition: int, lowest: str) -> None:
    """
    Update the places in the thread of a comment and of all above it: deleted ones without replies are removed, hidden
    ones keep a place while there are visible comments below them. One round trip for `REMOVED_AT_ONCE` of them. If the
    partition does not answer, or takes no writes, the rest is left to the task.
    """
    with suppress(StoreUnavailable):
        await _remove(site, partition, lowest)


async def update_lists(site: Site, article: int) -> None:
    """
    Take the comments of an article out of lists and inboxes if it was just hidden, or put them back if it is shown
    again; likewise the notifications of the article itself. Threads, and reads by id, follow the state of the
    article without this.

    Two round trips for each `LISTED_AT_ONCE` comments, one at the end for as many, and two for effects that another
    process has not applied yet; and those of `recent_comments.relist`. If a partition does not answer, or takes no
    writes, the rest is left to the task.
    """
    await recent_comments.relist(site, article)
    with suppress(StoreUnavailable):
        await _update_lists(site, site.partition_of_article(article), str(article))


async def remove_all(site: Site, partition: int) -> None:
    """
    Do all that is noted in the set `removing` of a partition. What an interruption leaves, the next call does.

    One round trip for `REMOVED_AT_ONCE` comments, and some for their effects in other partitions.

    Raises:
        StoreUnavailable: the partition does not answer, or takes no writes.
    """
    await recent_comments.relist_all(site, partition)
    for number in await site.redis.run(("ZRANGE", REMOVING(partition), 0, -1)):
        if not await _update_lists(site, partition, number):
            await _remove(site, partition, number)


def removing(site: Site) -> AbstractAsyncContextManager[None]:
    """Remove what deletions have left, as long as the context is open."""
    searched = turns(site.partitions)
    return repeating(lambda: _remove_noted(site, next(searched)), INTERVAL, "removing comments failed")


async def is_removing(site: Site) -> bool:
    """Whether comments are being removed in any partition. One round trip."""
    return any(await site.redis.pipeline([_is_noted(partition) for partition in range(site.partitions)]))


async def _remove_noted(site: Site, partitions: Sequence[int]) -> None:
    noted = await site.redis.pipeline([_is_noted(partition) for partition in partitions])
    for partition in compress(partitions, noted):
        await remove_all(site, partition)


def _is_noted(partition: int) -> Command:
    return ("EXISTS", REMOVING(partition), recent_comments.RELISTING(partition))


async def _update_lists(site: Site, partition: int, article: str) -> bool:
    """Add the comments of an article to lists and inboxes, or remove them. False if there is no such article."""
    place, changed = "-", ""  # where in the tree to go on, first at its beginning; "1" once this pass changed something
    while True:
        command = site.command(UPDATE_LISTS, partition, site.partitions, article, place, LISTED_AT_ONCE, changed)
        status, *reply = await site.redis.run(command)
        if status == "missing":
            return False
        if status == "done":
            (was_noted,) = reply
            if was_noted:
                await effects.complete(site, [partition])  # also of another process that has listed some
            return True
        place, changed, id, noted, poster, comments, listed, notified, of_article, announced, article_announced = reply
        if id:  # of the log's entry, if comments have changed
            values = {"poster": poster, "comments": comments, "listed": listed, "notified": notified}
            values |= {"of_article": of_article, "announced": announced, "article_announced": article_announced}
            entry = Entry(
                partition, id, "comments_listed", site.clock(), actor="", subject=f"article:{article}", values=values
            )
            await effects.apply_noted(site, entry, noted)


async def _remove(site: Site, partition: int, number: str) -> None:
    while number:
        number = await _remove_some(site, partition, number)


async def _remove_some(site: Site, partition: int, number: str) -> str:
    """
    Remove some comments of a deleted article with this number, or with that of a comment update its place and those
    above, as `update_places` does. Returns the number to go on with, or "".
    """
    last: dict[int, str] = {}  # the last entry with an effect in another partition
    for _ in range(STEPS_AT_ONCE):
        command = site.command(REMOVE_THREAD, partition, site.partitions, number, REMOVED_AT_ONCE)
        number, noted = await site.redis.run(command)
        last |= zip(map(int, noted[::2]), noted[1::2], strict=True)
        if not number:
            break
    await asyncio.gather(*(effects.apply_missing(site, partition, target, entry) for target, entry in last.items()))
    return number


async def _forget_comments(site: Site, partition: int, article: int) -> None:
    """Take the comments of a deleted article out of the lists of their posters and out of inboxes."""
    script_keys, place = [keys.tree(partition, article), keys.comment(partition, "")], "-"  # the beginning of the tree
    while place:
        command = CONCERNED_USERS.command(script_keys, place, FORGOTTEN_AT_ONCE)
        place, *flat = await site.redis.run(command)
        forgotten = _members(site, flat)
        await site.redis.pipeline(
            [
                FORGET_COMMENTS.command([keys.closed(target), *sets], *map(",".join, sets.values()))
                for target, sets in forgotten.items()
            ]
        )


def _members(site: Site, flat: Sequence[str]) -> Members:
    """
    The members that some comments have in lists and inboxes. `flat` has three texts for each comment: number, poster,
    and whom it has notified.
    """
    found: Members = defaultdict(lambda: defaultdict(list))
    for number, poster, notified in zip(flat[::3], flat[1::3], flat[2::3], strict=True):
        if poster:
            target = site.partition_of_user(poster)
            found[target][keys.comments(target, poster)].append(keys.member(int(number)))
        for each in notifications.notified(notified):
            member = notifications.notification_member(int(number), each.kind, "comment")
            found[target := site.partition_of_user(each.username)][keys.inbox(target, each.username)].append(member)
    return found
