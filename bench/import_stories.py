"""
Measures imports: prints the summary of each, its CPU time, and the peak memory of the process.

    python -m bench.import_stories [FILE] [options of import]

Without a file, it imports 20 052 random stories, with hosts, authors and points as skewed as on a real site, and then
3 000 others with 20 000 comments as on Hacker News. The settings are those of the environment, except for the data
directory, which is new.
"""

import csv
import os
import random
import resource
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench import conversations
from server.cli.main import main

STORIES = 20_052  # as many as the dump of a real site in RESULTS.md
DISCUSSED = (3_000, 20_000)  # stories and comments
AUTHORS = 15_000  # of whom some 9 000 post
HOSTS = 9_000  # of the links
WORDS = ["a", "the", "of", "river", "lamp", "clock", "tram", "choir", "kettle", "moth", "harbour", "queue", "bridge"]
NEWEST = datetime(2024, 3, 14, 9, 26, tzinfo=UTC)
YEAR_MINUTES = 366 * 24 * 60


def run(arguments: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["UPVOTE_DATA_DIR"] = f"{folder}/data"
        files, options = arguments[:1], arguments[1:]
        if not arguments or arguments[0].startswith("-"):
            discussed = conversations.write(
                Path(folder) / "items.jsonl", conversations.items(*DISCUSSED, seed=1, first_id=STORIES)
            )
            files, options = [str(random_stories(Path(folder) / "stories.csv")), str(discussed)], arguments
        for file in files:
            before = os.times()
            main(["import", file, *options])
            # user time of this process and of its children, which are Valkey
            own, _, of_valkey, _, _ = [now - then for now, then in zip(os.times(), before, strict=True)]
            print(f"CPU time {own:.1f} seconds, of Valkey {of_valkey:.1f} seconds")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024  # Linux counts in KiB
    print(f"peak memory {peak} MiB, without Valkey")


def random_stories(file: Path) -> Path:
    chance = random.Random(1)
    with file.open("w", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow(("id", "title", "url", "points", "comments", "author", "created_at"))
        writer.writerows(story(number, chance) for number in range(STORIES))
    return file


def story(number: int, chance: random.Random) -> tuple[str | int, ...]:
    kind = chance.choices(("Ask HN: ", "Show HN: ", ""), (9, 6, 85))[0]
    host = skewed(chance, HOSTS)
    link = "" if kind == "Ask HN: " else f"https://www.host{host}.example/{chance.getrandbits(200):x}"
    title = kind + " ".join(chance.choices(WORDS, k=chance.randint(4, 14)))
    points = min(round(chance.paretovariate(0.75)), 3_000)
    at = NEWEST - timedelta(minutes=chance.randrange(YEAR_MINUTES))
    return number, title, link, points, 0, f"author-{skewed(chance, AUTHORS)}", f"{at:%Y-%m-%dT%H:%M:%SZ}"


def skewed(chance: random.Random, count: int) -> int:
    """A number below `count`, the small ones much more often."""
    return int(count * chance.random() ** 2.5)


if __name__ == "__main__":
    run(sys.argv[1:])
