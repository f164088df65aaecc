"""The command `import`: brings the stories of a CSV or JSON lines file into the store, and prints a summary."""

import re
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from rich.progress import Progress

from resolvers import archive
from server.cli import session, story_file
from server.cli.progress import bars
from server.settings import Settings, read_settings
from store import effects, log
from store.maintenance import import_stories as importing
from store.maintenance.import_stories import Imported, Story, Voters
from store.records import Article
from store.site import unix_milliseconds
from store.store import Store

BATCH = 500  # stories in one round trip, fewer if they have many votes: each vote may bring the name of a voter
BATCH_VOTES = 50_000
SHOWN = 20  # bad lines
MOST_FOLLOWED = 10_000


@dataclass(frozen=True, slots=True)
class Options:
    shift_to_now: bool = False
    with_voters: bool = False
    follow: int = 0


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="has id, title, url, points, comments, author, created_at")
    parser.add_argument("--shift-to-now", action="store_true", help="move all times so that the newest story is now")
    parser.add_argument("--with-voters", action="store_true", help="create voters for stories still open to votes")
    parser.add_argument("--follow", type=_count, default=0, metavar="N", help="let each author follow N others")


def run(arguments: Namespace) -> int:
    options = Options(arguments.shift_to_now, arguments.with_voters, arguments.follow)
    return import_stories(read_settings(), arguments.file, options)


@dataclass(slots=True)
class ImportCounts:
    imported: int = 0
    known: int = 0
    bad: int = 0
    cleaned: int = 0
    users: int = 0
    groups: set[str] = field(default_factory=set)
    started: float = field(default_factory=time.monotonic)

    def add(self, batch: Sequence[Story], imported: Imported) -> None:
        self.imported += len(imported.stories)
        self.known += len(batch) - len(imported.stories)
        self.users += imported.created
        self.groups.update(group for story in imported.stories for group in story.groups)

    def add_cleaned(self) -> None:
        self.cleaned += 1

    def __str__(self) -> str:
        seconds = time.monotonic() - self.started
        return (
            f"imported {self.imported}, already known {self.known}, bad lines {self.bad}, new users {self.users}, "
            f"groups {len(self.groups)}, {seconds:.1f} seconds, {(self.imported + self.known) / seconds:.0f} a second"
        )


def import_stories(settings: Settings, file: Path, options: Options) -> int:
    """
    Import the stories of a file that are not in the store yet. If it is interrupted, the same command continues.

    Raises:
        OSError, NotStories: the file cannot be read.
    """
    counts = ImportCounts()
    with bars() as progress:
        stories = story_file.with_groups(read(file, counts, progress))
        with session.running_store(settings, join=True) as opened:
            try:
                session.run(opened, lambda store: _import_trimmed(store, opened, stories, options, counts, progress))
            finally:
                progress.stop()
                print(counts)
                if counts.cleaned:
                    print(f"removed control characters from the titles or links of {counts.cleaned} stories")
    return 0


def read(file: Path, counts: ImportCounts, progress: Progress) -> list[Story]:
    """
    The stories of a file in order, without groups. Bad lines are counted, and the first of them printed.

    Raises:
        OSError, NotStories: the file cannot be read.
    """
    found = []
    rows = story_file.read(file, unix_milliseconds(), counts.add_cleaned)
    for story in progress.track(rows, description="read"):
        if isinstance(story, Story):
            found.append(story)
            continue
        counts.bad += 1
        if counts.bad <= SHOWN:
            print(f"line {story.number}: {story.reason}", file=sys.stderr)
    if counts.bad > SHOWN:
        print(f"and {counts.bad - SHOWN} more bad lines", file=sys.stderr)
    return story_file.in_order(found)


async def _import_trimmed(
    store: Store,
    settings: Settings,
    stories: Sequence[Story],
    options: Options,
    counts: ImportCounts,
    progress: Progress,
) -> None:
    """Import, and trim the log meanwhile, as no server may be running."""
    async with log.kept_trimmed(store.site, settings.log_seconds * 1000, settings.log_entries, effects.removable):
        if options.shift_to_now:
            stories = await _shifted(store, settings, stories)
        await _import(store, stories, options, counts, progress)


async def _shifted(store: Store, settings: Settings, stories: Sequence[Story]) -> list[Story]:
    shift = await importing.shift_to_now(store, stories, partial(_archived, store, settings))
    return [replace(story, time=story.time + shift) for story in stories]


async def _archived(store: Store, settings: Settings, number: int) -> Article | None:
    """An archived article. The database is opened only if the store has any."""
    async with session.archive_of(settings, store) as database:
        return await archive.find(store, database, number)


async def _import(
    store: Store, stories: Sequence[Story], options: Options, counts: ImportCounts, progress: Progress
) -> None:
    voters = await importing.create_voters(store, stories) if options.with_voters else Voters((), 0)
    counts.users += voters.created
    task = progress.add_task("import", total=len(stories))
    for batch in _batches(stories):
        counts.add(batch, await importing.import_batch(store, batch, voters.names))
        progress.advance(task, len(batch))
    if options.follow:
        followers = await importing.follow(store, (story.poster for story in stories), options.follow)
        print(f"{followers} users follow {min(options.follow, max(followers - 1, 0))} others each")


def _batches(stories: Sequence[Story]) -> Iterator[list[Story]]:
    batch: list[Story] = []
    votes = 0
    for story in stories:
        batch.append(story)
        votes += story.votes
        if len(batch) == BATCH or votes >= BATCH_VOTES:
            yield batch
            batch, votes = [], 0
    if batch:
        yield batch


def _count(text: str) -> int:
    if not re.fullmatch("[0-9]{1,5}", text) or int(text) > MOST_FOLLOWED:
        raise ArgumentTypeError(f"a number from 0 to {MOST_FOLLOWED}, not {text[:60]}")
    return int(text)
