"""
Measures how much memory of Valkey an article, a comment, a vote on it and a notification take.

    python -m bench.comment_memory [--articles 400]

40 users post articles and comments, and 40 others vote. Each article has five comments of 200 characters, of which four
answer another one. Not counted are the log, which is trimmed, the comments in the list of a user that only the database
keeps, and what expires within minutes, such as answers to repeated calls.

Valkey's table of keys doubles when it is full, and stays as large when keys go. So it is counted at its average size,
not at the size to which keys that have expired here have grown it.
"""

import argparse
import asyncio
import random
import tempfile
from collections.abc import Iterable
from pathlib import Path

from archive.mover import LISTED_COMMENTS
from bench.store_memory import used
from bench.tables import markdown
from server.managed_valkey import server
from store import keys
from store.articles import Draft
from store.recent_comments import RECENT
from store.records import Vote
from store.store import Store
from store.threads import moved
from store.users import creation

COMMENTS_OF_EACH, VOTES_ON_EACH, CHARACTERS = 5, 5, 200
NAMES, VOTERS = ([f"{kind}{number:02}" for number in range(40)] for kind in ("person", "voters"))
SETTING = "hash-max-listpack-value"  # of Valkey: a hash with a longer value (in bytes) takes a larger encoding
VALUES = (64, 1024)  # of the setting: Valkey's default, and that of `server.managed_valkey`
VOTED = (keys.voted, keys.downvoted, moved)  # kinds that go when voting is closed, or a day after the last vote
TABLE_BYTES = 17  # of the table of keys, for a key: 7 take 64 bytes, and the table is 54 % full on average


class Measured:
    """A store that grows. `bytes_each` has how many bytes one of each kind of thing took, by its description."""

    def __init__(self, store: Store, articles: int) -> None:
        self.store, self.articles, self.chance = store, articles, random.Random(1)
        self.bytes_each: dict[str, float] = {}
        self._before = 0

    async def run(self) -> None:
        """Fill the store with one kind of thing after the other, and note what each took."""
        await self._note("", 1)  # only the size of the empty store
        articles = [await self._post(number) for number in range(self.articles)]
        await self._note("article", self.articles)
        comments = [number for article in articles for number in await self._comment(article)]
        for name in NAMES:
            await self.store.site.redis.run(("ZREMRANGEBYRANK", keys.comments(0, name), 0, -LISTED_COMMENTS - 1))
        recent = await self._found(RECENT(0, "") + "*")  # of the site and of each group
        listed = {
            "in the list of its poster": await self._sum(keys.comments(0, name) for name in NAMES),
            "notifications": await self._sum(keys.inbox(0, name) for name in NAMES),
            "among the newest, which are at most 10,000": await self._sum(recent),
        }
        await self._note("comment while voting is open", len(comments))
        for number in comments:
            for name in self.chance.sample(VOTERS, VOTES_ON_EACH):
                await self.store.comments.vote(number, name, self.chance.choice((Vote.UP, Vote.DOWN)))
        await self._note("vote on it", VOTES_ON_EACH * len(comments))
        voters = [kind(0, number) for number in comments for kind in (keys.voted, keys.downvoted)]
        await self.store.site.redis.run(("DEL", *voters, *(moved(0, article) for article in articles)))
        await self._note("freed", len(comments))  # for each comment, by the removal of its voters and moves
        opened, freed = self.bytes_each["comment while voting is open"], self.bytes_each.pop("freed")  # below 0
        self.bytes_each["comment once it is closed"] = opened + VOTES_ON_EACH * self.bytes_each["vote on it"] + freed
        for what, size in listed.items():
            self.bytes_each[f"of this: {what}"] = size / len(comments)

    async def _note(self, what: str, count: int) -> None:
        """Note what each of `count` things took that were added since the last call."""
        site = self.store.site
        await site.redis.run(("XTRIM", keys.log(0), "MAXLEN", 0))
        await site.redis.run(("DEL", keys.logged(0)))
        await self._expire()
        now = await self._size()
        if what:
            self.bytes_each[what] = (now - self._before) / count
        self._before = now

    async def _size(self) -> int:
        """The bytes of the store, with a table of keys of average size."""
        allocated, redis = await used(self.store), self.store.site.redis
        memory, counts = await redis.pipeline([("MEMORY", "STATS"), ("INFO", "keyspace")])
        count, expiring = (int(counts.partition(f"{name}=")[2].split(",")[0]) for name in ("keys", "expires"))
        return int(allocated - memory["overhead.db.hashtable.lut"] + TABLE_BYTES * (count + expiring))

    async def _expire(self) -> None:
        """Remove the keys that expire, except those of votes."""
        cursor = ""
        while cursor != "0":
            cursor, found = await self.store.site.redis.run(("SCAN", cursor or "0", "COUNT", 1_000))
            others = [key for key in found if not key.startswith(tuple(f"{kind.name}:" for kind in VOTED))]
            lifetimes = await self.store.site.redis.pipeline([("PTTL", key) for key in others])
            expiring = [key for key, lifetime in zip(others, lifetimes, strict=True) if lifetime > 0]
            if expiring:
                await self.store.site.redis.run(("DEL", *expiring))

    async def _post(self, number: int) -> int:
        draft = Draft(f"The title of an article, number {number}", f"https://example.com/{number}", groups=("show",))
        return (await self.store.articles.post(self.chance.choice(NAMES), draft)).article.number

    async def _comment(self, article: int) -> list[int]:
        found: list[int] = []
        for _ in range(COMMENTS_OF_EACH):
            text = f"{self.chance.random()} ".ljust(CHARACTERS, "x")
            parent = self.chance.choice(found) if found else None
            posted = await self.store.comments.post(article, parent, self.chance.choice(NAMES), text)
            found.append(posted.comment.number)
        return found

    async def _found(self, pattern: str) -> list[str]:
        """The keys that match a pattern."""
        return list(await self.store.site.redis.run(("KEYS", pattern)))

    async def _sum(self, some: Iterable[str]) -> int:
        """The bytes of some keys."""
        return sum([await self.store.site.redis.run(("MEMORY", "USAGE", key)) or 0 for key in some])


async def main(articles: int) -> None:
    rows: dict[str, list[str]] = {}
    for value in VALUES:
        with tempfile.TemporaryDirectory() as folder, server.running(Path(folder)) as url:
            store = await Store.open(url)
            await store.site.redis.run(("CONFIG", "SET", SETTING, value))
            for name in (*NAMES, *VOTERS):
                await store.site.redis.run(creation(store.site, name, store.site.clock()))
            measured = Measured(store, articles)
            await measured.run()
            for what, size in measured.bytes_each.items():
                rows.setdefault(what, [what]).append(f"{size:.0f}")
            await store.close()
    print(markdown(["bytes of each", f"{SETTING} 64", "1024"], list(rows.values())))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--articles", type=int, default=400)
    asyncio.run(main(parser.parse_args().articles))
