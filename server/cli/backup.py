"""The command `backup`: writes a whole store to one file while servers run."""

import sys
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass, field
from pathlib import Path

from archive.maintenance import records_of, records_since
from server.branding.backups import files_for_backup
from server.cli import backup_file, opened_store
from server.cli.progress import progress_bar
from server.settings import Settings, read_settings
from store import log
from store.maintenance import dump
from store.maintenance.records.record import Record
from store.maintenance.restore import POSITIONS
from store.site import unix_milliseconds
from store.store import Store


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="the file to write, named when it is complete; - for standard output")


def run(arguments: Namespace) -> int:
    return back_up(read_settings(), arguments.file)


@dataclass(slots=True)
class RecordCounts:
    """Counts records by kind, and the keys that are left out because they are damaged."""

    counts: dict[str, int] = field(default_factory=dict)
    damaged: int = 0

    def add(self, record: Record) -> None:
        self.counts[record.kind] = self.counts.get(record.kind, 0) + 1

    def leave_out(self, key: str) -> None:
        self.damaged += 1
        print(f"left out {key}: it is damaged; `verify` says more", file=sys.stderr)

    def __str__(self) -> str:
        return f"{self.counts.get('article', 0)} articles, {self.counts.get('user', 0)} users"


def back_up(settings: Settings, file: Path) -> int:
    """
    Write a whole store to a file. Returns 1 if damaged data was left out.

    What was written is reported on standard output, or on standard error if the backup itself may be there.

    Raises:
        OSError: the file cannot be written.
    """
    counts = RecordCounts()

    async def write(store: Store) -> None:
        positions = " ".join(await log.newest(store.site))  # the id of the last entry of the log in each partition
        header = {
            **await dump.settings(store.site),
            "taken_at": store.site.clock(),
            POSITIONS: positions,
            **files_for_backup(settings),
        }
        async with opened_store.archive_of(settings, store) as database:
            # the articles that are in the database only, and those that leave Redis while the dump runs
            archived = records_of(store.site, database) if database else None
            departed = records_since(store.site, database, unix_milliseconds()) if database else None
            with (
                progress_bar("backup", await dump.size(store.site)) as advance,
                backup_file.writing(file, header) as backup,
            ):
                async for records in dump.records_of(
                    store.site, advance, counts.leave_out, archived=archived, departed=departed
                ):
                    for record in records:
                        backup.add(record.as_list())
                        counts.add(record)

    opened_store.run(settings, write, strict=False)  # also a store whose indexes other settings have built
    report = sys.stdout if backup_file.becomes_new_file(file) else sys.stderr
    print(f"wrote {counts} to {backup_file.destination(file)}", file=report)
    return int(counts.damaged > 0)
