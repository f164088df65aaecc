"""The command `move`: a store to another place, while it can be read, and when to switch."""

import asyncio
import secrets

from server.app import open_store
from server.cli import session
from server.cli.backup import Tally, batches, policy_of
from server.cli.progress import bar
from server.settings import Settings
from store.maintenance import dump
from store.maintenance.restore import Restoration
from store.maintenance.write_lock import Closing
from store.store import Store, unix_milliseconds


def run(settings: Settings, to: str, partitions: int | None) -> int:
    """
    Copy a store to an empty place and leave it closed for writes; 1 where something broken had to be left out.

    Whatever stops it, the store takes writes again, and the copy is opened by nobody.

    Raises:
        StoreMismatch: the other place is not empty, or the store was written to meanwhile.
        StoreUnavailable: one of the two does not answer.
    """
    tally = Tally()
    with session.store_of(settings, joining=True) as opened:
        count = asyncio.run(_run(opened, to, partitions, tally))
    print(f"moved {tally} into {count} partitions; this store takes no more writes")
    print(f"now start the servers with the new UPVOTE_REDIS_URL and UPVOTE_PARTITIONS={count}")
    return int(tally.broken > 0)


def undo(settings: Settings) -> int:
    """Let a store that was moved take writes again."""
    with session.store_of(settings, joining=True) as opened:
        asyncio.run(_undo(opened))
    print("this store takes writes again; what it was moved to goes its own way")
    return 0


async def _run(settings: Settings, to: str, partitions: int | None, tally: Tally) -> int:
    store = await open_store(settings, strict=False)
    try:
        made_with = await dump.settings(store.site)
        count = partitions or store.site.partitions
        policy = policy_of(made_with, settings)
        restoration = await Restoration.begin(to, secrets.token_hex(), count, policy, unix_milliseconds)
        try:
            await _move(store, restoration, tally)
        finally:
            await restoration.close()
    finally:
        await store.close()
    return count


async def _move(store: Store, restoration: Restoration, tally: Tally) -> None:
    closing = Closing(store.site)
    try:
        await closing.begin()
        with bar("move", await dump.size(store.site)) as walked:
            async for records in dump.copied(store.site, walked, tally.leave_out, sessions=True):
                for some in batches(records):
                    await restoration.put(some)
                    await closing.renew()
                for record in records:
                    tally.add(record)
        await closing.renew(now=True)
        await restoration.end()
    except BaseException:
        await closing.end()
        raise
    await closing.settle()


async def _undo(settings: Settings) -> None:
    store = await open_store(settings, strict=False)
    try:
        await Closing(store.site).end()
    finally:
        await store.close()
