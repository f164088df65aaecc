"""
Deletes users: their names are replaced by pseudonyms (`~` and random characters) everywhere in Redis and in the SQL
database, which alone has archived articles, and their texts are removed if they wish so. This is done in steps that may
be repeated, for one partition (a share of the data in Redis) after the other. So an interruption leaves the rest to a
background task, which every server runs.

The request that deletes a user does it once, as far as there is time. The task does it again once all requests have
ended that may have read the user before, and when the database has what they have written. Until then the user is
noted in the sorted set `leaving`. A leaver is a user in that set; to settle is to finish what was begun.
"""

import asyncio
import json
import logging
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from archive import annulments, write_back
from archive.stepwise import LEASE_TIME, Delayed
from database import leaving as rows
from database import recent_comments
from database.database import Database, DatabaseUnavailable
from database.statements import Statement
from store import annulments as stored_annulments
from store import bans, effects, identities, keys, leaving
from store.background import repeating
from store.errors import Forbidden, LeaseTaken, NotFound, StoreUnavailable
from store.kinds import Key
from store.leases import Lease
from store.leaving import Leaver
from store.maintenance import scan
from store.site import Site
from store.store import Store

WAIT = 10.0  # seconds after which no request runs that has read the user before: longer than any may take
PATIENCE = 5.0  # seconds that the request of the user waits for
AT_ONCE = 100  # keys in a step, which blocks the server for about a millisecond
LISTED_AT_ONCE = 500  # members of a list of the user, in a round trip
INTERVAL = 1.0  # seconds between two searches for users who are being deleted
FAULT = "a user was not deleted"
ARCHIVED = Statement("SELECT number FROM articles WHERE poster = :poster AND archived")


logger = logging.getLogger("upvote")


class Deletion(NamedTuple):
    """
    A line of the file of deletions, by which users are deleted again after a restore. `user` is the digest of the name,
    and `subjects` are the digests of the user's ids at issuers, which are identity providers outside; both are made
    with `key`, the key of the store.
    """

    key: str
    user: str
    pseudonym: str
    removes_texts: bool
    subjects: Sequence[str] = ()

    def is_in(self, noted: "Sequence[Deletion]") -> bool:
        """Whether this deletion is noted, with at least these subjects."""
        # [:4]: all fields but `subjects`
        return any(self[:4] == each[:4] and set(self.subjects) <= set(each.subjects) for each in noted)


async def begin(store: Store, database: Database | None, leaver: Leaver) -> None:
    """
    Replace the name of a user for the first time, for `PATIENCE` seconds. The rest, and what cannot be done yet, is
    left to the task.
    """
    deadline = monotonic() + PATIENCE
    with suppress(StoreUnavailable, DatabaseUnavailable, Delayed):
        await note(store.site, leaver)
        await _require_no_steps(store.site, leaver)
        await _Sweep(store, database, leaver, deadline=deadline).run()


async def settle(store: Store, database: Database | None, leaver: Leaver) -> None:
    """
    End the deletion of a user. A round trip for `AT_ONCE` keys of the store, and a statement for as many rows as
    `database.leaving` says.

    Raises:
        Delayed: an action of a moderator about the user is still carried out, or the database may lack entries.
        StoreUnavailable, DatabaseUnavailable: one does not answer, or takes no writes.
    """
    site = store.site
    await leaving.refuse(site, leaver)  # the process that began the deletion may have died before it did so
    await note(site, leaver)
    await _require_no_steps(site, leaver)
    await effects.complete(site)  # changes by the user that other partitions have still to follow, such as follows
    if database:
        await annulments.wait_for_database(site)  # the database has all changes up to now
    sweep = _Sweep(store, database, leaver, drops_entries=True)
    await sweep.run()
    await sweep.replace_rows()  # what was archived while the store was read
    await effects.complete(site)
    await leaving.end(site, leaver)


def repeated(store: Store, database: Database | None) -> AbstractAsyncContextManager[None]:
    """End deletions that were begun, in the background, as long as the context is open."""
    return repeating(lambda: _settle_noted(store, database), INTERVAL, FAULT)


async def settle_all(store: Store, database: Database | None) -> None:
    """End all deletions that were begun `WAIT` seconds ago. Raises as `settle`."""
    site = store.site
    noted = await site.redis.pipeline(
        [
            ("ZRANGE", leaving.leaving(partition), "-inf", site.clock() - round(WAIT * 1000), "BYSCORE")
            for partition in range(site.partitions)
        ]
    )
    for text in [text for part in noted for text in part]:
        await settle(store, database, Leaver.parse(text))


async def note(site: Site, leaver: Leaver) -> None:
    """
    Append a deletion to the file of deletions, if the site has one that lacks it. A file that cannot be written
    is logged, and keeps nobody from leaving.
    """
    if site.deletions is None:
        return
    key, subjects = await leaving.name_key(site), await identities.digests_of(site, leaver.name)
    noted = Deletion(key, leaving.digest(key, leaver.name), leaver.pseudonym, leaver.removes_texts, subjects)
    try:
        await asyncio.to_thread(_append, site.deletions, noted)
    except OSError as error:
        logger.error(
            "a restored backup would have a user again who was deleted: %s is not written: %s", site.deletions, error
        )


def _append(file: Path, deletion: Deletion) -> None:
    """Append a line in one write. One that was cut off before stays a line of its own."""
    if deletion.is_in(noted_in(file)):
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    opened = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        size = os.fstat(opened).st_size
        is_cut_off = size > 0 and os.pread(opened, 1, size - 1) != b"\n"
        os.write(opened, b"\n" * is_cut_off + json.dumps(deletion._asdict()).encode() + b"\n")
        os.fsync(opened)
    finally:
        os.close(opened)


def noted_in(file: Path) -> list[Deletion]:
    """The deletions in a file; none if there is no file. A line that was cut off is left out."""
    if not file.exists():
        return []
    found = []
    for line in file.read_text().splitlines():
        with suppress(ValueError, TypeError):
            found.append(Deletion(**json.loads(line)))
    return found


async def delete_again(store: Store, deletions: Sequence[Deletion]) -> int:
    """
    In a store that was restored from a backup, delete the users again who were deleted after it was made, and keep all
    of their names from being given again. Returns how many there were. The cost of `settle` for each, and of a scan.
    """
    site, count = store.site, 0
    await leaving.keep_names(site, [(each.key, each.user, each.pseudonym) for each in deletions])
    own = await leaving.name_key(site)
    await identities.refuse_subjects(site, [each for noted in deletions if noted.key == own for each in noted.subjects])
    known = {(each.key, each.user): each for each in deletions}
    name_keys = {each.key for each in deletions}
    async for found in scan.known_keys(site, lambda count: None):  # without a report of progress
        for name in [key.suffix for key in found if key.kind is keys.user]:
            matching = [known.get((key, leaving.digest(key, name))) for key in name_keys]
            for deletion in filter(None, matching):
                with suppress(Delayed):  # a server continues it
                    leaver = await leaving.begin(
                        site,
                        name,
                        password_hash="",
                        removes_texts=deletion.removes_texts,
                        pseudonym=deletion.pseudonym,
                    )
                    await settle(store, None, leaver)  # without the database, which is rebuilt from the store later
                    count += 1
    return count


async def _settle_noted(store: Store, database: Database | None) -> None:
    commands = [("EXISTS", leaving.leaving(partition)) for partition in range(store.site.partitions)]
    if any(await store.site.redis.pipeline(commands)):
        with suppress(LeaseTaken, DatabaseUnavailable, Delayed):
            async with Lease(store.site, leaving.leaving.name, LEASE_TIME).held():
                await settle_all(store, database)


async def _require_no_steps(site: Site, leaver: Leaver) -> None:
    """
    Raises:
        Delayed: votes of the user are being annulled, or texts removed, by an action of a moderator.
    """
    if await leaving.is_moderated(site, leaver, (stored_annulments.annulling, bans.cleaning)):
        raise Delayed


@dataclass(frozen=True, slots=True)
class _Sweep:
    """
    Replaces the name everywhere once, and removes the texts if they go, too. The user's own texts come first, as
    everybody may read them, and the database after them, as it may not answer.

    With `drops_entries`, entries of the log (the stream of all changes) with texts of the user are removed. After the
    `deadline`, of the monotonic clock, it raises Delayed between two steps.
    """

    store: Store
    database: Database | None
    leaver: Leaver
    drops_entries: bool = False
    deadline: float = inf

    async def run(self) -> None:
        """Pass over all of the store and the database once."""
        await identities.refuse(self.store.site, self.leaver.name)  # tokens of outside issuers count no more
        async for texts in _own_texts(self.store.site, self.leaver):
            await self._replace(texts)
        await self.replace_rows()  # what comes back from the archive until now is found by the scan
        async for found in scan.known_keys(self.store.site, lambda count: None):  # without a report of progress
            await self._replace_in(found)
        if self.drops_entries:
            await self._drop_entries_of_archived()
        if self.leaver.removes_texts:
            await self._remove_texts()

    async def replace_rows(self) -> None:
        """Replace the name in the database, some rows in a transaction."""
        leaver = self.leaver
        while self.database and not await self.database.write(rows.replace_some, leaver.name, leaver.pseudonym):
            self._require_time()

    async def _replace_in(self, found: Sequence[Key]) -> None:
        """Replace the name in some keys of the store, and remove lists of the user."""
        name = self.leaver.folded
        own = [key for key in found if leaving.is_own(name, key.kind, key.suffix) and key.kind is not keys.user]
        named = [key for key in found if key.name in leaving.NAMED and key not in own]
        await self._replace([*named, *(key for key in own if key.kind in leaving.KEPT)])
        if gone := [key.text for key in own if key.kind not in leaving.KEPT]:
            await self.store.site.redis.pipeline([("UNLINK", key) for key in gone])

    async def _replace(self, found: Sequence[Key]) -> None:
        """Replace the name in some keys, and in what follows from them, such as places in the user's lists."""
        of_partition: defaultdict[int, list[str]] = defaultdict(list)
        for key in found:
            of_partition[key.partition].append(key.text)
        for partition, texts in of_partition.items():
            for start in range(0, len(texts), AT_ONCE):
                some = texts[start : start + AT_ONCE]
                await leaving.replace(self.store.site, self.leaver, partition, some, drops_entries=self.drops_entries)
                self._require_time()

    async def _drop_entries_of_archived(self) -> None:
        """Remove the entries of the log with texts of the user's archived articles: `logged` has the ids of these."""
        site = self.store.site
        for number in await self._archived():
            partition = site.partition_of_article(number)
            await leaving.replace(
                site, self.leaver, partition, [f"{keys.logged(partition)}:{number}"], drops_entries=True
            )

    async def _archived(self) -> list[int]:
        """The archived articles of the pseudonym."""
        return await self._of_archive(partial(_archived, poster=self.leaver.pseudonym))

    async def _older_comments(self) -> list[int]:
        """
        The comments of the pseudonym that the database has: all up to now, as the list in Redis lacks the oldest ones.
        """
        now = self.store.site.clock()
        return await self._of_archive(partial(recent_comments.of_poster, poster=self.leaver.pseudonym, until=now))

    async def _of_archive(self, query: Callable[[Any], list[int]]) -> list[int]:
        """The numbers that the database finds, none if the store has no archive."""
        if self.database is None or self.store.site.rankings.archive is None:
            return []
        return await self.database.run(query)

    async def _remove_texts(self) -> None:
        """Delete the articles and comments of the pseudonym, as users delete their own."""
        store, database, site = self.store, self.database, self.store.site
        pseudonym = self.leaver.pseudonym
        waker = write_back.Waker(pseudonym, is_bounded=False)  # archived texts are written back to Redis to be deleted
        for kind in leaving.KEPT:  # lists of a user's articles and comments, which the pseudonym has taken over
            is_of_articles = kind in (keys.timeline, keys.held)
            delete = store.articles.delete if is_of_articles else store.comments.delete
            change = write_back.run_change if is_of_articles else write_back.run_comment_change
            async for numbers in _listed(site, kind(site.partition_of_user(pseudonym), pseudonym)):
                for number in numbers:
                    with suppress(NotFound, Forbidden):  # it is deleted
                        await change(store, database, number, partial(delete, number, pseudonym), waker)
                    self._require_time()
        for number in await self._older_comments():
            with suppress(NotFound, Forbidden):
                delete = partial(store.comments.delete, number, pseudonym)
                await write_back.run_comment_change(store, database, number, delete, waker)
            self._require_time()
        for number in await self._archived():
            with suppress(NotFound):
                delete = partial(store.articles.delete, number, pseudonym)
                await write_back.run_change(store, database, number, delete, waker)
            self._require_time()

    def _require_time(self) -> None:
        if monotonic() > self.deadline:
            raise Delayed


async def _own_texts(site: Site, leaver: Leaver) -> AsyncIterator[list[Key]]:
    """The keys of a user's lists, each after the keys of the articles or comments that it lists, some at a time."""
    own = site.partition_of_user(leaver.name)
    for kind in leaving.KEPT:
        listed = keys.article if kind in (keys.timeline, keys.held) else keys.comment
        async for numbers in _listed(site, kind(own, leaver.name)):
            placed = [(site.partition_of_article(number), str(number)) for number in numbers]
            yield [
                Key(text=listed(partition, number), kind=listed, name=listed.name, partition=partition, suffix=number)
                for partition, number in placed
            ]
        yield [Key(text=kind(own, leaver.name), kind=kind, name=kind.name, partition=own, suffix=leaver.folded)]


async def _listed(site: Site, index: str) -> AsyncIterator[list[int]]:
    """The members of a sorted set of numbers, some at a time."""
    cursor = ""
    while cursor != "0":
        cursor, flat = await site.redis.run(("ZSCAN", index, cursor or "0", "COUNT", LISTED_AT_ONCE))
        yield [int(member) for member in flat[::2]]


def _archived(connection: Any, poster: str) -> list[int]:
    return list(ARCHIVED.run(connection, {"poster": poster}).scalars())
