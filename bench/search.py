"""
Measures searches at the database, without the server.

    python -m bench.search FILE [DATABASE_URL] [--comments 0]

FILE has stories as for `upvote import`. They are written to an empty database, by default a new SQLite file. With
`--comments N` they get N comments in all, each with the titles of five random stories.

A query is one to four words that follow one another in the title of a random story, so that frequent words are searched
as often as they are written. Times are of `database.search.find`, which finds all matches in their order. CPU time is
that of this process; the server of PostgreSQL is not measured.
"""

import argparse
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import NamedTuple

from sqlalchemy import Connection, insert

from bench.tables import markdown
from database import search
from database.engines import Engines
from database.interrupter import Call
from database.search import Search, SearchKind, SearchOrder
from database.statements import slices
from database.tables import ARTICLE_GROUPS, ARTICLES, COMMENTS, USERS
from database.words import parse
from server.app import collect_garbage_less_often
from server.cli import story_file
from store.keys import SLOTS
from store.maintenance.import_stories import Story
from store.site import unix_milliseconds

SEARCHES = 2_000  # per row of the printed table
PERCENTILES = (0.5, 0.95, 0.99)


class Sample(NamedTuple):
    """A search: its milliseconds, its milliseconds of CPU, and how many matches it has."""

    wall: float
    cpu: float
    match_count: int


def run(file: Path, url: str, comments: int) -> None:
    stories = [each for each in story_file.read(file, unix_milliseconds()) if isinstance(each, Story)]
    stories = story_file.with_groups(story_file.in_order(stories))
    engines = Engines.open(url)
    collect_garbage_less_often()  # as the server does
    started = process_time()
    engines.write(fill, stories)
    engines.write(comment, stories, comments)
    print(f"{len(stories)} stories and {comments} comments indexed in {process_time() - started:.1f} s of CPU time\n")
    print(markdown(["search", "matches p50", "p95", "ms p50", "p95", "p99", "CPU ms p95"], rows(engines, stories)))
    engines.close()


def fill(connection: Connection, stories: Sequence[Story]) -> None:
    """Write stories as an import does, and index them."""
    numbers = [SLOTS * sequence for sequence, _ in enumerate(stories, 1)]  # numbers in ids: these are of slot 0
    constants = {"content": None, "link": None, "down": 0, "imported_votes": 0, "archived": False}
    rows = [
        {
            "number": number,
            "title": each.title,
            "poster": each.poster,
            "posted_ms": each.time,
            "up": each.votes,
            **constants,
        }
        for number, each in zip(numbers, stories, strict=True)
    ]
    users = {
        each.poster.lower(): {"username": each.poster.lower(), "name": each.poster, "joined_ms": each.time}
        for each in stories
    }
    groups = [
        {"number": number, "name": name, "place": place}
        for number, each in zip(numbers, stories, strict=True)
        for place, name in enumerate(each.groups)
    ]
    for table, values in ((ARTICLES, rows), (USERS, list(users.values())), (ARTICLE_GROUPS, groups)):
        connection.execute(insert(table), values)
    search.index(connection, numbers, users)


def comment(connection: Connection, stories: Sequence[Story], count: int) -> None:
    """Write comments, and index them."""
    chance = random.Random(2)
    constants = {"parent": None, "depth": 0, "down": 0, "imported_votes": 0, "state": "VISIBLE"}
    rows = [
        {
            "number": SLOTS * (len(stories) + sequence), "article": SLOTS * chance.randrange(1, len(stories) + 1),
            "poster": chance.choice(stories).poster,
            "content": " ".join(each.title for each in chance.sample(stories, 5)),
            "posted_ms": chance.choice(stories).time, "up": chance.randrange(1, 50), **constants,
        }
        for sequence in range(1, count + 1)
    ]  # fmt: skip
    for batch in slices(rows):
        connection.execute(insert(COMMENTS), batch)
    search.index(connection, comments=[row["number"] for row in rows])


def rows(engines: Engines, stories: Sequence[Story]) -> list[list[str]]:
    """The figures of each kind of search."""
    chance = random.Random(1)
    queries = {
        f"{count} word{'s' * (count > 1)}": [query(chance, stories, count) for _ in range(SEARCHES)]
        for count in range(1, 5)
    }
    queries["1 to 4 words"] = [query(chance, stories, chance.randint(1, 4)) for _ in range(SEARCHES)]
    searches = {name: [Search(parse(each)) for each in texts] for name, texts in queries.items()}
    mixed = searches["1 to 4 words"]
    searches["... in quotation marks"] = [Search(parse(f'"{each}"')) for each in queries["1 to 4 words"]]
    searches["... NEWEST"] = [Search(each.phrases, order=SearchOrder.NEWEST) for each in mixed]
    searches["... VOTES"] = [Search(each.phrases, order=SearchOrder.VOTES) for each in mixed]
    searches["... in the largest group"] = [Search(each.phrases, group=largest_group(stories)) for each in mixed]
    for kind in (SearchKind.ARTICLE, SearchKind.COMMENT):
        searches[f"... of kind {kind.name}"] = [Search(each.phrases, kinds=frozenset({kind})) for each in mixed]
    return [[name, *figures(engines, each)] for name, each in searches.items()]


def query(chance: random.Random, stories: Sequence[Story], count: int) -> str:
    words = chance.choice(stories).title.split()
    first = chance.randrange(max(1, len(words) - count + 1))
    return " ".join(words[first : first + count])


def largest_group(stories: Sequence[Story]) -> str:
    names = [name for each in stories for name in each.groups]
    return max(set(names), key=names.count, default="show")


def figures(engines: Engines, searches: Sequence[Search]) -> list[str]:
    samples: list[Sample] = engines.search(Call(), measure, searches)  # without a deadline
    counts = [
        f"{percentile([each.match_count for each in samples], share):,.0f}".replace(",", " ") for share in (0.5, 0.95)
    ]
    walls = [f"{percentile([each.wall for each in samples], share):.2f}" for share in PERCENTILES]
    return [*counts, *walls, f"{percentile([each.cpu for each in samples], 0.95):.2f}"]


def measure(connection: Connection, searches: Sequence[Search]) -> list[Sample]:
    samples = []
    for each in searches:
        wall, cpu = perf_counter(), process_time()
        matches = search.find(connection, each)
        samples.append(Sample(1000 * (perf_counter() - wall), 1000 * (process_time() - cpu), len(matches.places)))
    return samples


def percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[int(len(values) * share)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("url", nargs="?")
    parser.add_argument("--comments", type=int, default=0)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run(chosen.file, chosen.url or f"sqlite:///{folder}/upvote.db", chosen.comments)
