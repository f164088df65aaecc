"""The command `move`: copies a store, which can be read meanwhile, to an empty one, and says when to switch."""

import secrets
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import AsyncIterator, Sequence

from archive.maintenance import records_of, records_since
from server.cli import opened_store
from server.cli.backup import RecordCounts
from server.cli.progress import progress_bar
from server.cli.restore import batches
from server.settings import Settings, read_settings
from store.client import urls
from store.keys import SLOTS
from store.maintenance import dump
from store.maintenance.records.record import Record
from store.maintenance.restore import Restoration
from store.maintenance.write_lock import WriteLock
from store.ranking.formulas import INDEX_WEIGHTS, Policy
from store.site import unix_milliseconds
from store.store import Store


def add_arguments(parser: ArgumentParser) -> None:
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument("--to", type=_url, metavar="URL", help="an empty store: a server, a cluster or sentinels")
    place.add_argument("--undo", action="store_true", help="let a store that was moved accept writes again")
    parser.add_argument(
        "--partitions", type=_partitions, metavar="N", help="number of partitions of the copy; as before by default"
    )


def run(arguments: Namespace) -> int:
    settings = read_settings()
    return undo(settings) if arguments.undo else move(settings, arguments.to, arguments.partitions)


def move(settings: Settings, to: str, partitions: int | None) -> int:
    """
    Copy a store to an empty one, and leave the first closed for writes. The copy has so many `partitions` (shares of
    the data), or as many as before if that is None. Returns 1 if damaged data was left out.

    If the move fails, the store accepts writes again, and no server opens the incomplete copy.

    Raises:
        StoreMismatch: the target is not empty, or the store was written to meanwhile.
        StoreUnavailable: one of the two stores does not answer.
    """
    counts = RecordCounts()

    async def copy(store: Store) -> int:
        header = await dump.settings(store.site)
        count = partitions or store.site.partitions
        policy = _policy(header, settings)
        # `source` names what is copied. A new name for each move: one that has failed cannot be continued
        restoration = await Restoration.begin(
            to, source=secrets.token_hex(), partitions=count, policy=policy, clock=unix_milliseconds
        )
        try:
            async with opened_store.archive_of(settings, store) as database:
                # the articles that are in the database only, and those that leave Redis while the dump runs
                archived = records_of(store.site, database) if database else None
                departed = records_since(store.site, database, unix_milliseconds()) if database else None
                await _copy(store, restoration, counts, archived, departed)
        finally:
            await restoration.close()
        return count

    count = opened_store.run(settings, copy, strict=False)  # also a store whose indexes other settings have built
    print(f"moved {counts} into {count} partitions; this store refuses writes now")
    print(f"start the servers with the new UPVOTE_REDIS_URL and UPVOTE_PARTITIONS={count}")
    return int(counts.damaged > 0)


def undo(settings: Settings) -> int:
    """Let a store that was moved accept writes again."""

    async def unlock(store: Store) -> bool:
        return await WriteLock(store.site).release()

    if opened_store.run(settings, unlock, strict=False):
        print("this store accepts writes again; the copy does not receive them")
    else:
        print("this store accepts writes: it was not moved")
    return 0


async def _copy(
    store: Store,
    restoration: Restoration,
    counts: RecordCounts,
    archived: AsyncIterator[Sequence[Record]] | None,
    departed: AsyncIterator[Sequence[Record]] | None,
) -> None:
    """Copy all records while writes are refused. They stay refused, unless the copy fails."""
    lock = WriteLock(store.site)  # no process writes to the store while this one renews the lock
    try:
        await lock.acquire()
        with progress_bar("move", await dump.size(store.site)) as advance:
            async for records in dump.records_of(
                store.site, advance, counts.leave_out, archived=archived, departed=departed, is_move=True
            ):
                for batch in batches(records):
                    await restoration.put(batch)
                    await lock.renew()
                for record in records:
                    counts.add(record)
        await lock.renew(now=True)
        await restoration.end()
    except BaseException:
        await lock.release()
        raise
    await lock.make_permanent()


def _policy(header: dict[str, str], settings: Settings) -> Policy:
    """The policy of the store that is copied. Weights that an older store does not name have their defaults."""
    weights = {name: float(header[name]) for name in INDEX_WEIGHTS if name in header}
    return Policy(int(header["good_votes"]), voting_window=settings.voting_window, **weights)


def _url(url: str) -> str:
    try:
        urls.parse(url)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error
    return url


def _partitions(text: str) -> int:
    count = int(text)
    if not 1 <= count <= SLOTS or count & (count - 1):
        raise ArgumentTypeError(f"{text} is not a power of two up to {SLOTS}")
    return count
