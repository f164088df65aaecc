"""
Removes the texts (articles and comments) of a banned user, and shows them again when the ban is reverted; also archived
ones, which only the SQL database has: these are written back to Redis first.

This is done in steps, partition by partition; a partition is a share of the data in Redis. An action is a record of
what a moderator did. Each text is removed by an action of its own that names the ban, so that the state of a text
follows from the actions about it alone. The revert of a ban reverts the removals that name it; before it does so in a
partition, it keeps late processes from removing more there.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from archive import write_back
from archive.stepwise import Reverted, StepwiseWork
from database import recent_comments
from database.database import Database, DatabaseUnavailable
from database.statements import Statement
from store import bans, comment_lists, comments, keys, leaving, moderation_records
from store.client import Command
from store.errors import StoreUnavailable
from store.kinds import Kind
from store.moderation_records import ModerationAction
from store.ranking.formulas import GROUPS_PER_ARTICLE
from store.scripts.registry import Script
from store.site import Site
from store.store import Store

if TYPE_CHECKING:
    from database.statements import Connection

END_CLEANING = Script("end_cleaning")
REMOVE_TEXTS = Script("remove_texts")
RESTORE_TEXTS = Script("restore_texts")

REMOVED_AT_ONCE = 20  # texts that a script removes, in some milliseconds
RESTORED_AT_ONCE = 20  # texts that a script restores
LISTED_AT_ONCE = 500  # texts of a user that a round trip lists
WAITED_FOR = 200  # texts: the request of a moderator does so many itself
INTERVAL = 1.0  # seconds between two searches for bans whose texts are to be removed
REASON = "removed with the ban action:{}"
REVERTED = "the ban action:{} is reverted"


async def begin(store: Store, database: Database | None, number: int) -> None:
    """
    Remove the texts of the ban with a number, or bring them back if it is reverted: about `WAITED_FOR` of them. More,
    and what cannot be done because something does not answer, are left to the task of `WORK`, which every server runs.
    """
    with suppress(StoreUnavailable, DatabaseUnavailable):
        await settle(store, database, number, WAITED_FOR)


async def settle(store: Store, database: Database | None, number: int, most: int | None = None) -> None:
    """
    Remove the texts of the ban with a number, or bring them back if it is reverted; if `most` is given, stop after
    about as many.

    One round trip for `LISTED_AT_ONCE` texts of the user, one for `REMOVED_AT_ONCE` that are removed in a partition,
    and one for each comment whose poster is elsewhere; for an archived article the cost of `write_back.bring_back`.
    """
    site = store.site
    partition = site.partition_of_article(number)
    ban = moderation_records.moderation_action(
        number, await site.redis.run(("HGETALL", keys.action(partition, number)))
    )
    if ban is None or not ban.removes_texts:
        await site.redis.run(("ZREM", bans.cleaning(partition), number))
        return
    with suppress(Reverted):  # then the ban is still noted, and what was removed comes back the next time
        if await (_restore(store, database, ban, most) if ban.reverted_by else _remove(store, database, ban, most)):
            is_reverted = "1" if ban.reverted_by else ""
            await site.redis.run(site.command(END_CLEANING, partition, number, is_reverted))


WORK = StepwiseWork(bans.cleaning, settle, INTERVAL, "texts of a ban were not removed")


async def _remove(store: Store, database: Database | None, ban: ModerationAction, most: int | None) -> bool:
    """
    Remove the texts of a ban. False if `most` were looked at before the end.

    A list may change while it is read, and an article may leave Redis before its step: so this repeats until a pass
    removes nothing.
    """
    seen, is_complete = 0, False
    while not is_complete:
        is_complete = True
        async for numbers in _texts(store, database, ban):
            removed = await _remove_some(store, ban, numbers)
            seen, is_complete = seen + len(numbers), is_complete and removed == 0
            if most is not None and seen >= most:
                return False
    return True


async def _texts(store: Store, database: Database | None, ban: ModerationAction) -> AsyncIterator[list[int]]:
    """
    The numbers of the articles of a banned user, then those of their comments, some at a time: an article that leaves
    the group of the ban takes its comments along, which stay then. Archived ones are brought back.
    """
    name = ban.subject_id.removeprefix("user:")
    async for numbers in _listed(store.site, name, keys.timeline, keys.held):  # visible ones, and others
        yield numbers
    archive = database if store.site.rankings.archive is not None else None
    poster = (await leaving.stored_name(store.site, name) or name) if archive else name
    if archive:
        for number in await archive.run(_archived, poster, ban.group, ban.at):
            await write_back.bring_back(store, archive, number)
            yield [number]
    async for numbers in _listed(store.site, name, keys.comments, keys.unlisted):  # likewise
        await write_back.bring_back_comments(store, database, await _absent(store.site, numbers))
        yield numbers
    # the list of comments in Redis lacks the user's oldest ones, up to this time: the database has them
    if archive and (floor := await comment_lists.stored_floor(store.site, name)):
        older = await archive.run(recent_comments.of_poster, poster, floor)
        for start in range(0, len(older), LISTED_AT_ONCE):
            numbers = older[start : start + LISTED_AT_ONCE]
            await write_back.bring_back_comments(store, archive, await _absent(store.site, numbers))
            yield numbers


async def _listed(site: Site, name: str, *lists: Kind) -> AsyncIterator[list[int]]:
    """The members of a user's lists in Redis, some at a time."""
    partition = site.partition_of_user(name)
    for kind in lists:
        cursor = ""
        while cursor != "0":
            command: Command = ("ZSCAN", kind(partition, name), cursor or "0", "COUNT", LISTED_AT_ONCE)
            cursor, flat = await site.redis.run(command)
            yield [int(member) for member in flat[::2]]


async def _absent(site: Site, comments: Sequence[int]) -> list[int]:
    """
    The numbers of the comments that Redis does not have. One round trip; none before conversations are archived.
    """
    if not site.rankings.has_archived_conversations or not comments:
        return []
    found = await site.redis.pipeline(
        [("EXISTS", keys.comment(site.partition_of_article(each), each)) for each in comments]
    )
    return [number for number, exists in zip(comments, found, strict=True) if not exists]


async def _remove_some(store: Store, ban: ModerationAction, numbers: Collection[int]) -> int:
    """
    Remove some articles and comments, by their numbers. Returns how many were removed.

    Raises:
        Reverted: the ban was reverted.
    """
    site, removed = store.site, 0
    of_partition: defaultdict[int, list[int]] = defaultdict(list)
    for number in numbers:
        of_partition[site.partition_of_article(number)].append(number)
    name = ban.subject_id.removeprefix("user:")
    given = (  # in the order of ARGV
        ban.number,
        ban.moderator,
        ban.at,
        ban.group or "",
        REASON.format(ban.number),
        comments.STUBS_AT_ONCE,
        name,
    )
    for partition, some in of_partition.items():
        for start in range(0, len(some), REMOVED_AT_ONCE):
            command = site.command(
                REMOVE_TEXTS, partition, site.partitions, *given, *some[start : start + REMOVED_AT_ONCE]
            )
            status, *found = await site.redis.run(command)
            if status == "reverted":
                raise Reverted
            for number, change in found:
                if change:  # that of a comment, whose poster may be in another partition
                    await comments.apply_state(site, ban.moderator, int(number), change)
            removed += len(found)
    return removed


async def _restore(store: Store, database: Database | None, ban: ModerationAction, most: int | None) -> bool:
    """
    Revert the removals that name a ban. False if `most` were read before the end.

    A comment, or an article that was taken out of a group, may be archived by now: it is written back to Redis, and its
    removal is read again.
    """
    site, read = store.site, 0
    reverter = await site.redis.run(
        ("HGET", keys.action(site.partition_of_article(ban.number), ban.reverted_by or 0), "moderator")
    )
    given = (ban.number, reverter, REVERTED.format(ban.number), GROUPS_PER_ARTICLE, comments.STUBS_AT_ONCE)
    for partition in range(site.partitions):
        first = "0"  # the rank of the removal to go on with; "" at the end
        while first:
            if most is not None and read >= most:
                return False
            command = site.command(RESTORE_TEXTS, partition, site.partitions, *given, first, RESTORED_AT_ONCE)
            following, missing, *found = await site.redis.run(command)
            read += RESTORED_AT_ONCE if following else len(found) // 2
            are_back = [await write_back.bring_back(store, database, int(number)) for number in missing]
            first = first if any(are_back) else following  # what came back is restored by another call
            for number, change in zip(found[::2], found[1::2], strict=True):
                await comments.apply_state(site, reverter, int(number), change)
    return True


def _archived(connection: "Connection", poster: str, group: str | None, until: int) -> list[int]:
    """The archived articles of a user that are shown, in a group if there is one, and were posted until an instant."""
    given = {"poster": poster, "until": until} | ({"name": group} if group else {})
    return list((ARCHIVED_IN_GROUP if group else ARCHIVED).run(connection, given).scalars())


OF_POSTER = (
    "SELECT number FROM articles WHERE poster = :poster AND archived AND state = 'VISIBLE' AND posted_ms <= :until"
)
ARCHIVED = Statement(OF_POSTER)
ARCHIVED_IN_GROUP = Statement(
    f"{OF_POSTER} AND EXISTS (SELECT 1 FROM article_groups AS placed WHERE placed.number = articles.number "
    "AND placed.name = :name)"
)
