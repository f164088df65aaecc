"""
Conversations of the shapes that comments have, for tests and figures: which comment answers which. As items of Hacker
News they are a file that `upvote import` reads:

    python -m bench.conversations FILE [STORIES [COMMENTS [SEED]]]

A conversation is a list: for each comment, in the order of posting, the index of the comment that it answers, or None
if it answers the article.

The growth is that of Gomez, Kappen, Litvak and Kaltenbrunner, "A likelihood-based framework for the analysis of
discussion threads" (World Wide Web 16, 2013): comments with replies get more of them, new comments do, and the article
does. `like_hacker_news` makes, on average of 20 seeds:

    comments                        30     100    300    1,000
    mean depth (0: the article's)   1.8    2.5    3.0    3.3
    greatest depth                  5      8      11     14
    answers to the article          15 %   14 %   13 %   12 %
    without a reply                 59 %   59 %   58 %   58 %

Hacker News has 6.6 comments for each story (34.3 of 5.2 million, https://blog.osm-ai.net/2024/04/01/hn-part-1.html),
and most stories have few or none: sizes are Zipf's. No published figure of depths on Hacker News was found.
"""

import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

Conversation = list[int | None]
Item = dict[str, Any]

TOP_LEVEL = 0.12  # share of comments that answer the article
RECENT = 0.55  # share of replies that answer one of the newest comments, as a dialogue does
NEWEST = 8  # comments that such a reply may answer
STORIES, COMMENTS = 1_000, 6_600
PEOPLE = 400  # who post and comment
DELETED, DEAD = 0.03, 0.02  # shares of comments
FIRST_TIME = 1_710_000_000  # unix seconds
PAUSE = 40  # seconds between two comments on average
WORDS = ("a", "the", "of", "but", "river", "lamp", "clock", "tram", "choir", "kettle", "moth", "harbour", "queue")
MARKUP = (
    "<i>{}</i>",
    "&quot;{}&quot;",
    "<p>{}",
    "<p>&gt; {}",
    "<p><pre><code>  {} = *x\n  return\n</code></pre>\n",
    '<a href="https:&#x2F;&#x2F;example.com&#x2F;{0}" rel="nofollow">https:&#x2F;&#x2F;example.com&#x2F;{0}</a>',
)  # fmt: skip


def like_hacker_news(size: int, chance: random.Random) -> Conversation:
    """
    A thread as on Hacker News: few comments have many replies (Zipf), most have none, and dialogues go deep.

    A reply answers one of the newest comments, or the comment that another random reply answers, so that comments with
    many replies get more.
    """
    made: Conversation = []
    for each in range(size):
        if not each or chance.random() < TOP_LEVEL:
            made.append(None)
        elif chance.random() < RECENT:
            made.append(chance.randrange(max(each - NEWEST, 0), each))
        else:
            other = chance.randrange(each)
            answered = made[other]
            made.append(other if answered is None else answered)
    return made


def random_tree(size: int, chance: random.Random) -> Conversation:
    """Each comment answers any earlier one, or the article."""
    return [None if (parent := chance.randrange(-1, each)) < 0 else parent for each in range(size)]


def with_chain(size: int, depth: int, chance: random.Random) -> Conversation:
    """A chain of replies of some depth; all other comments answer any earlier one."""
    chain: Conversation = [None, *range(depth)]
    return chain + [chance.randrange(each) for each in range(len(chain), size)]


def with_siblings(size: int, siblings: int, chance: random.Random) -> Conversation:
    """`siblings` replies to the article; all other comments answer any earlier one."""
    top: Conversation = [None] * siblings
    return top + [chance.randrange(each) for each in range(siblings, size)]


def comb(size: int, chance: random.Random) -> Conversation:
    """Each second comment is answered twice, and the second answer goes on: the worst case for paths in the tree."""
    made: Conversation = [None]
    while len(made) < size:
        parent = len(made) - 1
        made += [parent, parent]
    return made[:size]


SHAPES: dict[str, Callable[[int, random.Random], Conversation]] = {
    "as on Hacker News": like_hacker_news,
    "random tree": random_tree,
    "chain of a tenth": lambda size, chance: with_chain(size, size // 10, chance),
    "siblings of a half": lambda size, chance: with_siblings(size, size // 2, chance),
    "comb": comb,
}


def items(stories: int, comments: int, seed: int, first_id: int = 1) -> Iterator[Item]:
    """
    Stories with conversations as on Hacker News, as items of its API, in the order of their ids. Some comments are
    deleted or dead, some have markup. The same seed gives the same items.
    """
    chance = random.Random(seed)
    made: list[Item] = []
    for story, size in enumerate(sizes(stories, comments), 1):
        asks = chance.random() < 0.1
        at = FIRST_TIME + story * PAUSE * max(comments // stories, 1)
        head = {"title": f"{'Ask HN: ' * asks}{words(chance, 8)} {story}", "score": _skewed(chance, 500)}
        body = {"text": text(chance)} if asks else {"url": f"https://www.host{_skewed(chance, 200)}.example/{story}"}
        made.append({"type": "story", "by": _person(chance), "time": at, "descendants": size, **head, **body})
        made += _discussion(made[-1], like_hacker_news(size, chance), chance)
    made.sort(key=lambda item: item["time"])
    for id, item in enumerate(made, first_id):
        item["id"] = id
    for item in made:
        if parent := item.get("parent"):
            item["parent"] = parent["id"]
            parent.setdefault("kids", []).append(item["id"])
    yield from made


def sizes(stories: int, comments: int) -> list[int]:
    """How many comments each of some stories has: by Zipf's law, so that most have few or none."""
    total = sum(1 / rank for rank in range(1, stories + 1))
    return [round(comments / rank / total) for rank in range(1, stories + 1)]


def write(file: Path, made: Sequence[Item] | Iterator[Item]) -> Path:
    with file.open("w") as lines:
        for item in made:
            lines.write(json.dumps(item) + "\n")
    return file


def text(chance: random.Random) -> str:
    """HTML as Hacker News writes it: paragraphs, italics, links, code, and what Markdown takes for markup."""
    parts = [words(chance, 12)]
    for _ in range(chance.choice((0, 0, 1, 1, 2, 4))):
        parts.append(chance.choice(MARKUP).format(words(chance, 3).replace(" ", "_")))
        parts.append(words(chance, 10))
    return " ".join(parts)


def words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choices(WORDS, k=chance.randint(2, count)))


def _discussion(story: Item, conversation: Conversation, chance: random.Random) -> list[Item]:
    """The comments of a story. They have no ids yet, so the `parent` of each is an item: `items` puts its id there."""
    made: list[Item] = []
    at = story["time"]
    for parent in conversation:
        at += 1 + round(chance.expovariate(1 / PAUSE))
        item: Item = {"type": "comment", "time": at, "parent": story if parent is None else made[parent]}
        state = chance.random()
        if state < DELETED:
            item["deleted"] = True
        else:
            item |= {"by": _person(chance), "text": text(chance)}
        if DELETED <= state < DELETED + DEAD:
            item["dead"] = True
        made.append(item)
    return made


def _person(chance: random.Random) -> str:
    return f"person-{_skewed(chance, PEOPLE)}"


def _skewed(chance: random.Random, most: int) -> int:
    """A number from 1 on, the small ones much more often."""
    return min(int(chance.paretovariate(0.8)), most)


if __name__ == "__main__":
    # the arguments that are given, and the defaults of the others
    stories, comments, seed = [*map(int, sys.argv[2:]), *(STORIES, COMMENTS, 1)[len(sys.argv) - 2 :]]
    write(Path(sys.argv[1]), items(stories, comments, seed))
