"""
The process that moves articles out of Redis into the database when the soak test says so, and the stories that are
imported before.
"""

import asyncio
import csv
import json
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import NamedTuple

from archive.steps import GRACE
from tests.soak.formulas import Policy

PATIENCE = 60.0  # seconds
HOUR = 3_600_000  # milliseconds
LISTED_COMMENTS = 1  # how many comments of each user Redis lists, once older ones may be in the database
DAYS = 0  # the setting UPVOTE_HOT_DAYS: conversations leave Redis as soon as voting in them is closed
QUIET = 0.25  # probability that, before articles leave, the clock is moved until all conversations may leave
COLUMNS = ("id", "title", "url", "points", "author", "created_at")
# one of 16 stories has a link that is also posted by others: `upvote import` would make a group of 20 with one host
SHARED = 16


class RedisLimits(NamedTuple):
    """
    How many articles may stay in Redis, in all and of each user, and how many leave it at once. After `days` in
    which nothing was written there conversations leave: None if they stay, 0 if they leave once all voting is closed.
    `listed_comments` is how many comments stay in the list of each user.
    """

    articles: int
    articles_per_user: int
    at_once: int
    days: int | None
    listed_comments: int = LISTED_COMMENTS


class Story(NamedTuple):
    """
    An article to import, with votes of unknown voters. Its title is unlike all others, and "Ask HN" before it makes it
    one of the group ask.
    """

    title: str
    link: str
    poster: str
    posted_at: int  # unix milliseconds
    votes: int

    @property
    def groups(self) -> set[str]:
        return {"ask"} if self.title.startswith("Ask HN") else set()


def chosen_limits(random: Random, imported: int) -> RedisLimits:
    articles = random.choice((0, 5, imported // 2, imported - 10, imported))
    per_user, at_once = random.choice((0, 3, 1_000)), random.choice((1, 3, 10, 200))
    return RedisLimits(articles, per_user, at_once=at_once, days=DAYS)


def quiet_time(policy: Policy) -> int:
    """Milliseconds after which all conversations may leave Redis: voting is closed, by all clocks that may differ."""
    return policy.voting_window * 1000 + GRACE


class EagerArchiver:
    """Runs `clock/eager_archiver.py` from a source tree, with the settings of a server. Its log goes into a file."""

    def __init__(self, root: Path, environment: Mapping[str, str], log: Path) -> None:
        self._root, self._environment, self._log = root, environment, log
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start the process, unless it runs."""
        if self._process is None:
            self._process = await asyncio.create_subprocess_exec(
                "sh", "-c", 'exec "$0" -m eager_archiver 2>>"$1"', sys.executable, str(self._log), cwd=self._root,
                env=self._environment, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=2**20,
            )  # fmt: skip

    async def archive(self, limits: RedisLimits) -> list[int] | str:
        """
        Let articles leave Redis, once it was started. Returns the numbers of all archived articles, or why none could
        leave.
        """
        if self._process is None:
            return "it was killed"
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin and stdout
        try:
            stdin.write(f"{' '.join(map(str, limits))}\n".encode())
            async with asyncio.timeout(PATIENCE):
                line = await stdout.readline()
        except (OSError, TimeoutError) as error:
            await self.kill()
            return repr(error)
        answered: list[int] | str = json.loads(line) if line else "it was killed"
        return answered

    async def kill(self) -> None:
        if self._process is not None:
            if self._process.returncode is None:
                self._process.kill()
            await self._process.wait()
            self._process = None


async def import_stories(root: Path, environment: Mapping[str, str], file: Path, stories: Sequence[Story]) -> None:
    """Run `upvote import`. Raises ChildProcessError if it fails."""
    with file.open("w", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow(COLUMNS)
        for number, story in enumerate(stories):
            at = datetime.fromtimestamp(story.posted_at / 1000, UTC).isoformat()
            writer.writerow((number, story.title, story.link, story.votes, story.poster, at))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "server", "import", str(file), cwd=root, env=environment,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    printed, _ = await process.communicate()
    if process.returncode != 0 or "bad lines 0" not in printed.decode():
        raise ChildProcessError(printed.decode())


def stories(random: Random, posters: Sequence[str], before: int, count: int) -> tuple[Story, ...]:
    """Stories whose voting is closed long before an instant. Many have equal votes, some equal times."""
    titles = ("Ask HN: imported", "Imported from elsewhere")
    return tuple(
        Story(
            title=f"{random.choice(titles)} {number}",
            link=f"https://example.com/{number % 9}" if number % SHARED == 0 else f"https://b{number}.example/",
            poster=random.choice(posters),
            posted_at=before - (24 + random.randint(0, 2 * count)) * HOUR,
            votes=random.choice((1, 1, 1, 2, 2, 3, 5, 8)),
        )
        for number in range(count)
    )
