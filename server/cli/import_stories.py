"""The command `import`: brings the stories and comments of a file into the store, and prints a summary."""

import re
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from rich.progress import Progress

from archive import reads, write_back
from server.cli import hacker_news, opened_store, story_file
from server.cli.hacker_news import Conversations
from server.cli.progress import progress_bars
from server.cli.story_file import BadLine, Notes, NotStories
from server.settings import Settings, read_settings
from store import effects, log
from store.maintenance import import_comments as importing_comments
from store.maintenance import import_stories as importing
from store.maintenance.import_comments import PlacedComment, Result, Status, StoryComment
from store.maintenance.import_stories import Imported, Story, Voters
from store.records import Article
from store.site import unix_milliseconds
from store.store import Store

BATCH = 500  # stories in one round trip, fewer if they have many votes: each vote may bring the name of a voter
BATCH_VOTES = 50_000  # of the stories of such a batch, together
COMMENTS_AT_ONCE = 100  # in one round trip: their scripts take some 20 ms
SHOWN = 20  # how many faults of a kind are printed
MOST_FOLLOWED = 10_000  # the largest number for the option `--follow`
FileLine = tuple[int, int]  # the index of a file on the command line, and a line in it
# Comments with these statuses are sent a second time; if that does not help, the reason is printed. The first time a
# comment is GONE, its article may be archived, which means that only the database has it. Such an article is written
# back to Redis before the second time, unless it was archived with its comments (its conversation).
REFUSED = {
    Status.MISSING: "was not imported",
    Status.GONE: "was deleted",
    Status.ARCHIVED: "is archived with its conversation",
}


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """The options of the command. `follow` is how many others each poster follows."""

    shift_to_now: bool = False
    with_voters: bool = False
    follow: int = 0


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("files", type=Path, nargs="+", metavar="file", help="CSV, JSON lines, or items of Hacker News")
    parser.add_argument("--shift-to-now", action="store_true", help="move all times so that the newest is now")
    parser.add_argument("--with-voters", action="store_true", help="create voters for stories still open to votes")
    parser.add_argument("--follow", type=_count, default=0, metavar="N", help="let each author follow N others")


def run(arguments: Namespace) -> int:
    options = ImportOptions(arguments.shift_to_now, arguments.with_voters, arguments.follow)
    return import_stories(read_settings(), arguments.files, options)


@dataclass(slots=True)
class ImportCounts:
    """
    What a summary prints. `known` stories were imported before; `orphans` are comments without what they answer;
    `left_out` are items that are deleted, dead or of another type, and the comments below them.
    """

    imported: int = 0
    known: int = 0
    bad: int = 0
    cleaned: int = 0
    cut: int = 0
    users: int = 0
    comments: int = 0
    known_comments: int = 0
    orphans: int = 0
    left_out: int = 0
    groups: set[str] = field(default_factory=set)
    started: float = field(default_factory=time.monotonic)

    def add(self, batch: Sequence[Story], imported: Imported) -> None:
        self.imported += len(imported.stories)
        self.known += len(batch) - len(imported.stories)
        self.users += imported.created
        self.groups.update(group for story in imported.stories for group in story.groups)

    def __str__(self) -> str:
        seconds = time.monotonic() - self.started
        number = self.imported + self.known + self.comments + self.known_comments
        lines = [
            f"imported {self.imported}, already known {self.known}, bad lines {self.bad}, new users {self.users}, "
            f"groups {len(self.groups)}, {seconds:.1f} seconds, {number / seconds:.0f} a second"
        ]
        if self.comments or self.known_comments or self.orphans or self.left_out:
            lines.append(
                f"comments imported {self.comments}, already known {self.known_comments}, "
                f"without what they answer {self.orphans}; deleted, dead or other items {self.left_out}"
            )
        if self.cleaned:
            lines.append(f"removed control characters from the titles or links of {self.cleaned} stories")
        if self.cut:
            lines.append(f"cut {self.cut} texts that were too long")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class FileContents:
    """
    Names of files; stories in order, without groups; comments; `skipped`, the ids of items that are not imported; and
    the file and line of each id.
    """

    names: Sequence[str]
    stories: Sequence[Story]
    comments: Sequence[StoryComment]
    skipped: frozenset[str]
    places: Mapping[str, FileLine]


def import_stories(settings: Settings, files: Sequence[Path], options: ImportOptions) -> int:
    """
    Import what some files have and the store has not. If it is interrupted, the same command continues.

    Raises:
        OSError, NotStories: a file cannot be read, or all have comments only, which cannot be shifted to now.
    """
    counts = ImportCounts()
    with progress_bars() as progress:
        found = read(files, counts, progress)
        if options.shift_to_now and found.comments and not found.stories:
            raise NotStories("--shift-to-now needs the stories of comments: name their file, too")
        with opened_store.running_store(settings, join=True) as with_url:
            try:
                opened_store.run(with_url, lambda store: Import(store, with_url, options, counts, progress).run(found))
            finally:
                progress.stop()
                print(counts)
    return 0


def read(files: Sequence[Path], counts: ImportCounts, progress: Progress) -> FileContents:
    """
    What some files have. Bad lines are counted, and the first of them printed.

    Raises:
        OSError, NotStories: a file cannot be read.
    """
    places, faults = dict[str, FileLine](), list[str]()
    stories, comments, skipped = list[Story](), list[StoryComment](), set[str]()
    for number, file in enumerate(files):
        notes = Notes()
        for found in progress.track(story_file.read(file, unix_milliseconds(), notes), description="read"):
            if isinstance(found, BadLine):
                faults.append(f"{file.name}, line {found.number}: {found.reason}")
                continue
            line = notes.lines[found.id]
            first_file, _ = places.setdefault(found.id, (number, line))
            if first_file != number:
                faults.append(f"{file.name}, line {line}: {files[first_file].name} has the same id")
            elif isinstance(found, Story):
                stories.append(found)
            elif isinstance(found, StoryComment):
                comments.append(found)
            else:
                skipped.add(found.id)
        counts.cleaned += notes.cleaned
        counts.cut += notes.cut
    _print_faults(faults, "bad lines")
    counts.bad, counts.left_out = len(faults), len(skipped)
    names = [file.name for file in files]
    return FileContents(names, story_file.in_order(stories), comments, frozenset(skipped), places)


class Orphan(NamedTuple):
    """A comment that is not imported, and what became of the story or comment that it answers."""

    comment: StoryComment
    reason: str


@dataclass(frozen=True, slots=True)
class Import:
    """An import of files into an open store."""

    store: Store
    settings: Settings
    options: ImportOptions
    counts: ImportCounts
    progress: Progress

    async def run(self, found: FileContents) -> None:
        """Import, and trim the log meanwhile: perhaps no server runs that would do so."""
        site, kept_ms, max_entries = self.store.site, self.settings.log_seconds * 1000, self.settings.log_entries
        async with log.kept_trimmed(site, kept_ms, max_entries, effects.removable):
            stories = story_file.with_groups(found.stories)
            conversations = await self._conversations(found)
            if self.options.shift_to_now:
                stories, conversations = await self._shifted(stories, conversations)
            names = await self._create_posters(stories, conversations)
            await self._import_stories(stories)
            orphans = [Orphan(each, "was not imported") for each in conversations.orphans]
            orphans += await self._import_comments(conversations, names)
            self._report(found, orphans)
            if self.options.follow:
                await self._follow(stories)

    async def _conversations(self, found: FileContents) -> Conversations:
        """The comments of the files, with the partitions to import them into."""
        if not found.comments:
            return Conversations()
        site = self.store.site
        in_files = {story.id for story in found.stories} | {comment.id for comment in found.comments}
        outside = {comment.parent for comment in found.comments} - in_files
        partitions = await importing_comments.partitions_of(self.store, outside)
        partitions.update({story.id: site.partition_of_user(story.poster) for story in found.stories})
        conversations = hacker_news.arranged(found.comments, partitions, found.skipped)
        self.counts.left_out += len(conversations.skipped)
        return conversations

    async def _shifted(
        self, stories: Sequence[Story], conversations: Conversations
    ) -> tuple[list[Story], Conversations]:
        """
        Stories and comments with their times moved by the same amount, so that the newest is now. If an interrupted
        import goes on, its amount is used again.
        """
        newest = max((comment.time for _, comment in conversations.placed), default=0)
        shift = await importing.shift_to_now(self.store, stories, self._archived, newest)
        placed = [
            PlacedComment(partition, replace(comment, time=comment.time + shift))
            for partition, comment in conversations.placed
        ]
        return [replace(story, time=story.time + shift) for story in stories], replace(conversations, placed=placed)

    async def _archived(self, number: int) -> Article | None:
        """An archived article. The database is opened only if the store has any."""
        async with opened_store.archive_of(self.settings, self.store) as database:
            return await reads.find(self.store, database, number)

    async def _create_posters(self, stories: Sequence[Story], conversations: Conversations) -> Mapping[str, str]:
        """
        Create users for the posters of comments. A user has joined at the time of their first story or comment.

        Returns the names of these users as they are written, by name in lower case.
        """
        posters = {comment.poster.lower(): comment.poster for _, comment in conversations.placed if comment.poster}
        joined = dict[str, int]()
        times = [(story.poster, story.time) for story in stories]
        for poster, at in times + [(comment.poster, comment.time) for _, comment in conversations.placed]:
            if name := posters.get(poster.lower()):
                joined[name] = min(joined.get(name, at), at)
        created = await importing_comments.create_posters(self.store, joined)
        self.counts.users += created.created
        return created.names

    async def _import_stories(self, stories: Sequence[Story]) -> None:
        with_voters = self.options.with_voters
        voters = await importing.create_voters(self.store, stories) if with_voters else Voters(names=(), created=0)
        self.counts.users += voters.created
        if self.store.groups.only_listed:
            # posts are only allowed in groups that were created before
            await self.store.groups.add_all(sorted({group for story in stories for group in story.groups}))
        task = self.progress.add_task("stories", total=len(stories))
        for batch in _batches(stories):
            self.counts.add(batch, await importing.import_batch(self.store, batch, voters.names))
            self.progress.advance(task, len(batch))

    async def _import_comments(self, conversations: Conversations, names: Mapping[str, str]) -> list[Orphan]:
        """Import comments, and return those that could not be."""
        placed, refused = conversations.placed, list[Orphan]()
        if not placed:
            return refused
        task = self.progress.add_task("comments", total=len(placed))
        # does what an interrupted import has left to do in other partitions, such as the karma of posters
        await effects.complete(self.store.site)
        for start in range(0, len(placed), COMMENTS_AT_ONCE):
            batch = placed[start : start + COMMENTS_AT_ONCE]
            results = await self._import_batch(batch, names)
            self.counts.comments += sum(each.status is Status.IMPORTED for each in results)
            self.counts.known_comments += sum(each.status is Status.KNOWN for each in results)
            for (_, comment), result in zip(batch, results, strict=True):
                if reason := REFUSED.get(result.status):
                    refused.append(Orphan(comment, reason))
            self.progress.advance(task, len(batch))
        await effects.complete(self.store.site)
        return refused

    async def _import_batch(self, batch: Sequence[PlacedComment], names: Mapping[str, str]) -> list[Result]:
        """
        Import some comments. Refused ones are sent a second time, for two reasons:

        - Their article may be archived. It is written back to Redis before, unless it has a conversation.
        - Redis may have lost the script. The client then sends the first commands of the batch again after the others,
          so a reply may have come before its parent.
        """
        results = await importing_comments.import_comments(self.store, batch, names)
        refused = [i for i, each in enumerate(results) if each.status in REFUSED]
        if not refused:
            return results
        gone = {results[i].answered for i in refused if results[i].status is Status.GONE}
        still_archived = await self._bring_back(gone)
        again = await importing_comments.import_comments(self.store, [batch[i] for i in refused], names)
        for i, result in zip(refused, again, strict=True):
            is_archived = result.status is Status.GONE and result.answered in still_archived
            results[i] = Result(Status.ARCHIVED, result.answered) if is_archived else result
        return results

    async def _bring_back(self, numbers: Iterable[int]) -> set[int]:
        """Write archived articles back to Redis. Returns those that stay archived, with their conversations."""
        async with opened_store.archive_of(self.settings, self.store) as database:
            return {each for each in numbers if not await write_back.bring_back_alone(self.store, database, each)}

    def _report(self, found: FileContents, orphans: Sequence[Orphan]) -> None:
        self.counts.orphans = len(orphans)
        by_place = sorted((found.places[comment.id], comment.id, comment.parent, reason) for comment, reason in orphans)
        faults = [
            f"{found.names[file]}, line {line}: comment {id} answers {parent}, which {reason}"
            for (file, line), id, parent, reason in by_place
        ]
        _print_faults(faults, "comments without what they answer")

    async def _follow(self, stories: Sequence[Story]) -> None:
        """Let each poster follow others, as the option `--follow` says."""
        count = self.options.follow
        followers = await importing.follow(self.store, (story.poster for story in stories), count)
        print(f"{followers} users follow {min(count, max(followers - 1, 0))} others each")


def _print_faults(faults: Sequence[str], kind: str) -> None:
    for fault in faults[:SHOWN]:
        print(fault, file=sys.stderr)
    if len(faults) > SHOWN:
        print(f"and {len(faults) - SHOWN} more {kind}", file=sys.stderr)


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
