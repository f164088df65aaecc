"""The command `restore`: checks a whole backup, then fills an empty store from it."""

import asyncio
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from archive.leaving import delete_again, noted_in
from database.database import DatabaseUnavailable
from server.branding.backups import files_in, put_files
from server.cli import backup_file, opened_store
from server.cli.backup import RecordCounts
from server.cli.backup_file import BrokenBackup, CheckedBackup
from server.cli.database import rebuild, run_action
from server.cli.progress import progress_bar
from server.settings import DELETIONS_FILE, Settings, read_settings, reason
from store.maintenance.records.content import VotedOnRecord
from store.maintenance.records.reading import record_of
from store.maintenance.records.record import MalformedRecord, Record, shown
from store.maintenance.records.settings import SequencesRecord
from store.maintenance.restore import Restoration, log_point_of
from store.ranking.formulas import INDEX_WEIGHTS
from store.site import unix_milliseconds

BATCH_RECORDS = 200  # in one round trip, fewer if they have many voters
BATCH_VOTERS = 50_000  # of the records of such a batch, together


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "file", type=Path, help="what `backup` wrote, checked before it is restored; - for standard input"
    )
    parser.add_argument(
        "--without-deletions",
        action="store_true",
        help="do not delete users again who were deleted after the backup was made",
    )
    parser.add_argument("--partitions", type=int, metavar="N", help="number of partitions; as in the backup by default")


def run(arguments: Namespace) -> int:
    settings = read_settings(partitions=arguments.partitions)
    return restore(settings, arguments.file, with_deletions=not arguments.without_deletions)


def restore(settings: Settings, file: Path, *, with_deletions: bool = True) -> int:
    """
    Fill an empty store from a backup. If it is interrupted, the same command continues. The backup may have users who
    were deleted after it was made: those whom the file of deletions (`DELETIONS_FILE`) names are deleted again, unless
    `with_deletions` is false.

    Raises:
        BrokenBackup: the file was changed or cut off, or has invalid records; nothing is restored.
        OSError: the file cannot be read.
        StoreMismatch: the store is not empty.
    """
    with backup_file.checked(file) as backup:
        header = header_of(backup)
        check_records(backup, header.partitions or 1)
        files = files_in(backup)
        counts = RecordCounts()
        with opened_store.running_store(settings) as settings_with_url:
            is_managed = settings.redis_url is None  # this program runs the server, which no other process uses then
            asyncio.run(_restore(settings_with_url, backup, header, counts, exclusive=is_managed))
            print(f"restored {counts} from {backup.name}")
            put_files(files, settings.site_folder)
            if with_deletions and (deletions := noted_in(settings.data_dir / DELETIONS_FILE)):
                count = opened_store.run(settings_with_url, partial(delete_again, deletions=deletions), strict=False)
                print(f"deleted again {count} users")
            if settings.database:
                _rebuild_database(settings_with_url)
    return 0


def _rebuild_database(settings: Settings) -> None:
    try:
        run_action(settings, rebuild)
    except DatabaseUnavailable as error:
        cause = error.__cause__ or error
        print(f"the database does not answer ({cause}): a server rebuilds it when it starts", file=sys.stderr)


async def _restore(
    settings: Settings, backup: CheckedBackup, header: Settings, counts: RecordCounts, *, exclusive: bool
) -> None:
    """Write the records of a checked backup into the store."""
    restoration = await Restoration.begin(
        settings.redis_url or "",
        source=backup.digest,
        partitions=settings.partitions or header.partitions or 1,
        policy=replace(header.policy, voting_window=settings.voting_window),
        clock=unix_milliseconds,
        exclusive=exclusive,
        log_point=log_point_of(backup.header),
    )
    try:
        with progress_bar("restore", backup.frames) as advance:
            for frame in backup.records():
                records = [record_of(parts) for parts in frame]
                for batch in batches(records):
                    await restoration.put(batch)
                for record in records:
                    counts.add(record)
                advance(1)
        await restoration.end()
    finally:
        await restoration.close()


def header_of(backup: CheckedBackup) -> Settings:
    """
    The settings of the store that was backed up.

    Raises:
        BrokenBackup: a value is missing, or is not valid for its setting.
    """
    if missing := [name for name in ("partitions", "good_votes") if backup.header.get(name) is None]:
        raise BrokenBackup(f"{backup.name}: the header has no {missing[0]}")
    values = {
        name: backup.header[name] for name in ("partitions", "good_votes", *INDEX_WEIGHTS) if name in backup.header
    }
    try:
        return Settings(**values)
    except ValidationError as error:
        fault = error.errors()[0]
        value = shown(fault["input"])
        raise BrokenBackup(f"{backup.name}: the header has {fault['loc'][0]} {value}: {reason(fault)}") from error


def check_records(backup: CheckedBackup, partitions: int) -> None:
    """
    Check all records of a backup of a store with so many partitions.

    Raises:
        BrokenBackup: a record is invalid, or there is not exactly one record of sequences. For each partition it has
            the last sequence, the part of a number that grows, that an article or a comment was given.
    """
    sequences = 0
    with progress_bar("check", backup.frames) as advance:
        for frame, records in enumerate(backup.records(), 2):  # frame 1 is the header
            for position, parts in enumerate(records, 1):
                where = f"{backup.name}: record {position} of frame {frame}"
                record = _checked(parts, where)
                if isinstance(record, SequencesRecord):
                    sequences += 1
                    if len(record.given) != partitions:
                        raise BrokenBackup(f"{where}: {len(record.given)} sequences for {partitions} partitions")
            advance(1)
    if sequences != 1:
        raise BrokenBackup(f"{backup.name}: it has {sequences} records of sequences instead of one")


def _checked(parts: object, where: str) -> Record:
    try:
        record = record_of(parts)
        record.check()
    except MalformedRecord as error:
        raise BrokenBackup(f"{where}: {error}") from error
    return record


def batches(records: Sequence[Record]) -> Iterator[list[Record]]:
    """Split records into batches that are written together."""
    batch: list[Record] = []
    voters = 0
    for record in records:
        batch.append(record)
        voters += record.voters if isinstance(record, VotedOnRecord) else 0
        if len(batch) == BATCH_RECORDS or voters >= BATCH_VOTERS:
            yield batch
            batch, voters = [], 0
    if batch:
        yield batch
