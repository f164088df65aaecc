"""The command `import`: stories from a file into the store, with a bar for those who wait and a summary for all."""

import asyncio
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from server.app import open_store
from server.cli import session, stories
from server.settings import Settings
from store.maintenance import import_stories
from store.maintenance.import_stories import Brought, Story, Voters
from store.store import Store, unix_milliseconds

BATCH = 500  # stories that leave together, fewer if they have many votes: each may bring a voter's name
BATCH_VOTES = 50_000
SHOWN = 20  # bad lines


@dataclass(frozen=True, slots=True)
class Options:
    shift_to_now: bool = False
    with_voters: bool = False
    follow: int = 0


@dataclass(slots=True)
class Tally:
    imported: int = 0
    known: int = 0
    bad: int = 0
    users: int = 0
    groups: set[str] = field(default_factory=set)
    started: float = field(default_factory=time.monotonic)

    def add(self, batch: Sequence[Story], brought: Brought) -> None:
        self.imported += len(brought.stories)
        self.known += len(batch) - len(brought.stories)
        self.users += brought.created
        self.groups.update(group for story in brought.stories for group in story.groups)

    def __str__(self) -> str:
        seconds = time.monotonic() - self.started
        return (
            f"imported {self.imported}, known already {self.known}, bad lines {self.bad}, new users {self.users}, "
            f"groups {len(self.groups)}, {seconds:.1f} seconds, {(self.imported + self.known) / seconds:.0f} a second"
        )


class Rate(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.finished_speed or task.speed or 0:,.0f}/s")


def run(settings: Settings, file: Path, options: Options) -> int:
    """
    Import a file's stories that are not known yet. However it ends, the same command goes on from there.

    Raises:
        OSError, NotStories: the file cannot be read.
    """
    tally = Tally()
    with bars() as progress:
        found = stories.in_groups(read(file, tally, progress))
        with session.store_of(settings, joining=True) as opened:
            try:
                asyncio.run(_import(opened, found, options, tally, progress))
            finally:
                progress.stop()
                print(tally)
    return 0


def bars() -> Progress:
    """Bars for those who wait at a terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    return Progress(*columns, console=console, disable=not console.is_terminal)


def read(file: Path, tally: Tally, progress: Progress) -> list[Story]:
    """
    A file's stories in their order, not yet in groups; bad lines are counted, and the first of them told.

    Raises:
        OSError, NotStories: the file cannot be read.
    """
    found = []
    for story in progress.track(stories.read(file, unix_milliseconds()), description="read"):
        if isinstance(story, Story):
            found.append(story)
            continue
        tally.bad += 1
        if tally.bad <= SHOWN:
            print(f"line {story.number}: {story.reason}", file=sys.stderr)
    if tally.bad > SHOWN:
        print(f"and {tally.bad - SHOWN} more bad lines", file=sys.stderr)
    return stories.in_order(found)


async def _import(
    settings: Settings, found: Sequence[Story], options: Options, tally: Tally, progress: Progress
) -> None:
    store = await open_store(settings)
    try:
        if options.shift_to_now:
            found = await _shifted(store, found)
        voters = await import_stories.create_voters(store, found) if options.with_voters else Voters((), 0)
        tally.users += voters.created
        task = progress.add_task("import", total=len(found))
        for batch in _batches(found):
            tally.add(batch, await import_stories.bring_in(store, batch, voters.names))
            progress.advance(task, len(batch))
        if options.follow:
            followers = await import_stories.follow(store, (story.poster for story in found), options.follow)
            print(f"{followers} users follow {min(options.follow, max(followers - 1, 0))} others each")
    finally:
        await store.close()


async def _shifted(store: Store, found: Sequence[Story]) -> Sequence[Story]:
    shift = await import_stories.shift_to_now(store, found)
    return [replace(story, time=story.time + shift) for story in found]


def _batches(found: Sequence[Story]) -> Iterator[list[Story]]:
    batch: list[Story] = []
    votes = 0
    for story in found:
        batch.append(story)
        votes += story.votes
        if len(batch) == BATCH or votes >= BATCH_VOTES:
            yield batch
            batch, votes = [], 0
    if batch:
        yield batch
