"""The commands `backup` and `restore`: a store as one file, taken while it serves, and a new store made of it."""

import asyncio
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from server.app import open_store
from server.cli import archive as archives
from server.cli import session
from server.cli.archive import BrokenBackup, Checked
from server.cli.progress import bar
from server.settings import Settings
from store.maintenance import dump, record_checks
from store.maintenance.record_checks import MalformedRecord
from store.maintenance.restore import Restoration
from store.ranking.formulas import BUILT_WITH, Policy
from store.store import unix_milliseconds

AT_ONCE = 200  # records that are written together, fewer if they have many voters
VOTERS_AT_ONCE = 50_000


@dataclass(slots=True)
class Tally:
    """How many of each kind, and what was left out as it is broken."""

    counts: dict[str, int] = field(default_factory=dict)
    broken: int = 0

    def add(self, record: dump.Record) -> None:
        self.counts[record[0]] = self.counts.get(record[0], 0) + 1

    def leave_out(self, key: str) -> None:
        self.broken += 1
        print(f"left out {key}: it is broken; `verify` says more", file=sys.stderr)

    def __str__(self) -> str:
        return f"{self.counts.get('article', 0)} articles, {self.counts.get('user', 0)} users"


def back_up(settings: Settings, file: Path) -> int:
    """
    Write all of a store into a file; 1 where something broken had to be left out.

    Raises:
        OSError: the file cannot be written.
    """
    tally = Tally()
    with session.store_of(settings, joining=True) as opened:
        asyncio.run(_back_up(opened, file, tally))
    print(f"wrote {tally} to {file}")
    return int(tally.broken > 0)


def restore(settings: Settings, file: Path) -> int:
    """
    Make a store of a backup, in an empty place. However it ends, the same command goes on from there.

    Raises:
        BrokenBackup: the file is not as it was written, or no store can be made of what it has; nothing is restored.
        OSError: it cannot be read.
        StoreMismatch: the store is not empty.
    """
    backup = archives.checked(file)
    made_with = header_of(backup)
    check_records(backup, made_with.partitions or 1)
    tally = Tally()
    with session.store_of(settings) as opened:
        asyncio.run(_restore(opened, backup, made_with, tally, alone=settings.redis_url is None))
    print(f"restored {tally} from {file}")
    return 0


async def _back_up(settings: Settings, file: Path, tally: Tally) -> None:
    store = await open_store(settings, strict=False)
    header = {**await dump.settings(store.site), "taken_at": store.site.clock()}
    try:
        with bar("backup", await dump.size(store.site)) as walked, archives.writing(file, header) as archive:
            copied = dump.copied(store.site, walked, tally.leave_out)
            async for records in copied:
                for record in records:
                    archive.add(record)
                    tally.add(record)
    finally:
        await store.close()


async def _restore(settings: Settings, backup: Checked, made_with: Settings, tally: Tally, *, alone: bool) -> None:
    restoration = await Restoration.begin(
        settings.redis_url or "",
        backup.digest,
        settings.partitions or made_with.partitions or 1,
        replace(made_with.policy, voting_window=settings.voting_window),
        unix_milliseconds,
        alone=alone,
    )
    try:
        with bar("restore", backup.frames) as walked:
            for records in backup.records():
                for some in batches(records):
                    await restoration.put(some)
                for record in records:
                    tally.add(record)
                walked(1)
        await restoration.end()
    finally:
        await restoration.close()


def header_of(backup: Checked) -> Settings:
    """
    What the store that is copied was made with, by the rules of the settings.

    Raises:
        BrokenBackup: something of it is missing, or no setting can have such a value.
    """
    if lacking := [name for name in ("partitions", "good_votes") if backup.header.get(name) is None]:
        raise BrokenBackup(f"{backup.path}: the header has no {lacking[0]}")
    made_with = {
        name: backup.header[name] for name in ("partitions", "good_votes", *BUILT_WITH) if name in backup.header
    }
    try:
        return Settings(**made_with)
    except ValidationError as error:
        fault = error.errors()[0]
        value = record_checks.shown(fault["input"])
        raise BrokenBackup(f"{backup.path}: the header has {fault['loc'][0]} {value}: {fault['msg']}") from error


def check_records(backup: Checked, partitions: int) -> None:
    """
    Raises:
        BrokenBackup: no store can be made of a record, or that of the sequences is missing.
    """
    sequences = 0
    with bar("check", backup.frames) as walked:
        for frame, records in enumerate(backup.records(), 2):
            for place, record in enumerate(records, 1):
                where = f"{backup.path}: record {place} of frame {frame}"
                try:
                    record_checks.check(record)
                except MalformedRecord as error:
                    raise BrokenBackup(f"{where}: {error}") from error
                if record[0] == "sequences":
                    sequences += 1
                    if len(record[1]) != partitions:
                        raise BrokenBackup(f"{where}: {len(record[1])} sequences, of {partitions} partitions")
            walked(1)
    if sequences != 1:
        raise BrokenBackup(f"{backup.path}: it has {sequences} records of sequences, not one")


def policy_of(made_with: dict[str, Any], settings: Settings) -> Policy:
    """That of the store that is copied, so that its indexes stay as they are. What it does not tell is as always."""
    weights = {name: float(made_with[name]) for name in BUILT_WITH if name in made_with}
    return Policy(int(made_with["good_votes"]), voting_window=settings.voting_window, **weights)


def batches(records: list[dump.Record]) -> Iterator[list[dump.Record]]:
    """Records that are written together."""
    batch: list[dump.Record] = []
    voters = 0
    for record in records:
        batch.append(record)
        voters += len(record[3]) + len(record[4]) if record[0] == "article" else 0
        if len(batch) == AT_ONCE or voters >= VOTERS_AT_ONCE:
            yield batch
            batch, voters = [], 0
    if batch:
        yield batch
