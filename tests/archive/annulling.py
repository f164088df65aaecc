"""
A `Pair` of stores with the same history. In `world` a moderator annuls the votes of the user Mallory: they do not count
until this action is reverted. In `other` nobody does. Functions read what both hold, to compare it.

What is archived is in the SQL database only; `archive` moves articles there, with their comments, as a server does.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from redis import Redis
from sqlalchemy import select

from archive import annulments, maintenance
from archive.mover import HotLimits, Mover
from database.database import Database
from database.tables import ARTICLES, COMMENT_VOTES, COMMENTS, VOTES
from store import annulments as steps
from store import (
    effects,
    keys,
    removals,
    reverts,
)
from store.articles import Draft
from store.errors import Forbidden, Refusal
from store.maintenance import verify
from store.maintenance.verify import Finding
from store.moderation_records import ModerationAction
from store.ranking.formulas import Policy
from store.records import Vote
from store.roles import OPERATOR
from store.store import Store
from tests.conftest import Clock, client, registered
from tests.database.conftest import mirrored
from tests.store.reading import contents

WINDOW = 3_600  # seconds of voting
TRIES = 10  # of the steps in a partition, while the database is behind
POLICY = Policy(good_votes=3, voting_window=WINDOW)
PEOPLE = ("Mallory", "alice", "bob", "carol", "dave")
VOTES_OF_MALLORY = 14  # that `Pair.fill` casts: on all articles and comments of others
OWN = (  # prefixes of the keys that only annulments and the archive write
    "action",
    "annulled",
    "cases",
    "annulling",
    "restoring",
    "archived",
    "moving",
    "recounted",
    "left",
    "woken",
)
GROWING = (  # prefixes of keys that only grow or depend on the time, so that the two stores differ in them
    "logged",
    "sequence",
    "effects",
    "applied",
    "moves",
    "moved",
    "deleted",
    "inbox",
    "lease",
    "consumers",
    "numbered",
    "posted",
    "commented",
)


@dataclass
class World:
    """A store in a database of Redis, with its SQL database if it has one."""

    store: Store
    redis: Redis
    database: Database | None

    async def annul(self, **given: Any) -> ModerationAction:
        """Annul all votes of Mallory, or those of a span of time, `since` and `until` (unix milliseconds)."""
        span = {"since": None, "until": None} | given
        done = await steps.annul(self.store.site, OPERATOR, "mallory", **span, reason="a ring")
        assert done.action
        return done.action

    async def revert(self, action: ModerationAction, **given: Any) -> ModerationAction:
        done = await reverts.revert(self.store.site, OPERATOR, action.number, "a mistake", **given)
        assert done.action
        return done.action

    async def settle(self) -> None:
        """
        Annul or restore all votes that actions ask for, as the tasks of a server do. They try again where the database
        takes long, as on a busy machine.
        """
        async with self.mirrored():
            for partition in range(self.store.site.partitions):
                for _ in range(TRIES):
                    with suppress(annulments.ConsumerBehind):
                        await annulments.WORK.settle_all(self.store, self.database, partition)
                        break
        await self.finish()

    async def finish(self) -> None:
        """Do what changes have left for later: effects in other partitions, such as karma, and removals of comments."""
        await effects.complete(self.store.site)
        for partition in range(self.store.site.partitions):
            await removals.remove_all(self.store.site, partition)
        await self.mirror()

    async def mirror(self) -> None:
        """Bring the database up to date with the store."""
        if self.database:
            await mirrored(self.store, self.database)

    async def read(self, action: ModerationAction) -> ModerationAction:
        """The action as it is now."""
        found = await reverts.read_action(self.store.site, action.number)
        assert found
        return found

    async def archive(self) -> None:
        """Move all articles whose voting is closed from Redis to the database, with their comments."""
        assert self.database
        await self.mirror()
        # conversations leave once voting on all of them is closed
        limits = HotLimits(articles=0, articles_per_user=0, days=0)
        # without the waits, in seconds, that give other processes of a server time
        mover = Mover(self.store.site, self.database, limits, notice=0, removal_delay=0)
        async with self.mirrored():  # the mover waits for the mirror
            await mover.move()
        await mover.close()

    @asynccontextmanager
    async def mirrored(self) -> AsyncIterator[None]:
        """Keep the database up to date in this context. Cancelling the task would leave a transaction open."""
        ended = asyncio.Event()

        async def follow() -> None:
            while not ended.is_set():
                await self.mirror()
                await asyncio.sleep(0.01)

        task = asyncio.create_task(follow())
        try:
            yield
        finally:
            ended.set()
            await task

    def shown(self) -> dict[str, Any]:
        """The values of all keys, but for annulled votes, actions, and what only grows (see `OWN` and `GROWING`)."""
        found = {key: value for key, value in contents(self.redis).items() if not key.startswith((*OWN, *GROWING))}
        for value in found.values():
            if isinstance(value, dict):
                # fields that only grow or depend on the time
                for name in ("upvoters", "inbox_seen", "inbox_dropped", "log", "written"):
                    value.pop(name, None)
                if value.get("replies") == "0":  # articles that come back from the archive lack the field
                    del value["replies"]
        return {key: value for key, value in found.items() if key != keys.store()}


@dataclass
class Pair:
    """
    Two stores with the same history, of which `other` never annuls. Whoever is in `left_out` does not vote there.
    `articles` and `comments` have the numbers of all that were posted.
    """

    world: World
    other: World
    clock: Clock
    articles: list[int] = field(default_factory=list)
    comments: list[int] = field(default_factory=list)
    left_out: tuple[str, ...] = ()

    async def both(self, command: Callable[[Store], Awaitable[Any]]) -> Any:
        """Run a command in both stores, which both refuse or both accept."""
        self.clock.advance(1)
        outcomes = []
        for store in (self.world.store, self.other.store):
            try:
                outcomes.append(await command(store))
            except Refusal as refusal:
                outcomes.append(type(refusal))
        assert type(outcomes[0]) is type(outcomes[1]), outcomes
        return outcomes[0]

    async def post(self, poster: str, *groups: str) -> int:
        text = f"{self.clock.now}"
        posted = await self.both(
            lambda store: store.articles.post(
                poster, Draft(text, content="a text", groups=groups), idempotency_key=text
            )
        )
        self.articles.append(posted.article.number)
        return self.articles[-1]

    async def comment(self, poster: str, article: int, parent: int | None = None) -> int:
        text = f"comment {self.clock.now}"
        posted = await self.both(lambda store: store.comments.post(article, parent=parent, poster=poster, content=text))
        self.comments.append(posted.comment.number)
        return self.comments[-1]

    async def vote(self, voter: str, number: int, value: Vote) -> None:
        def cast(store: Store) -> Awaitable[Any]:
            return (store.articles if number in self.articles else store.comments).vote(number, voter, value)

        if voter in self.left_out:
            self.clock.advance(1)
            with suppress(Forbidden):  # a vote on what is their own
                await cast(self.world.store)
        else:
            await self.both(cast)

    async def fill(self) -> None:
        """Articles and comments of everybody, with votes up and down on all of them by Mallory and some others."""
        for poster, groups in (
            ("alice", ("show",)),
            ("bob", ("show", "ask")),
            ("Mallory", ("ask",)),
            ("carol", ()),
            ("dave", ("show",)),
        ):
            number = await self.post(poster, *groups)
            first = await self.comment("carol", number)
            await self.comment("Mallory", number, first)
            await self.comment("bob", number, first)
        chance = random.Random(7)
        for number in (*self.articles[-5:], *self.comments):
            for voter in PEOPLE:
                if voter == "Mallory" or chance.random() < 0.6:
                    await self.vote(voter, number, chance.choice([Vote.UP, Vote.UP, Vote.DOWN]))

    def close_voting(self) -> None:
        """Set the clock ahead, and let keys expire as much earlier: Valkey has its own clock."""
        passed = WINDOW + 120  # seconds: sets of voters expire a minute after voting closes
        self.clock.advance(passed)
        for world in (self.world, self.other):
            for key in world.redis.scan_iter():
                if (remaining := world.redis.pttl(key)) >= 0:
                    world.redis.pexpire(key, remaining - passed * 1000)

    def assert_equal(self) -> None:
        """Check that both stores hold the same, as `shown` tells it."""
        found, expected = self.world.shown(), self.other.shown()
        differing = {key: (found.get(key), expected.get(key)) for key in {*found, *expected}}
        differing = {key: values for key, values in differing.items() if values[0] != values[1]}
        assert not differing, differing

    async def findings(self) -> list[str]:
        """What `verify` finds, except late expiries: the clock of the test is ahead of that of Valkey."""
        found: list[Finding] = []
        site, database = self.world.store.site, self.world.database
        await site.rankings.read(site.redis)
        tally = None  # sums of all archived articles, which verification of the store adds to those in Redis
        if database and site.rankings.archive:
            await self.world.mirror()
            tally = await maintenance.verify(site, database, found.append, repair=False)
        await verify.verify(site, found.append, repair=False, archived=tally)
        return [str(each) for each in found if not each.where.endswith("TTL")]


async def opened(redis_url: str, partitions: int, clock: Clock, database: Database | None) -> AsyncIterator[Pair]:
    """Two new stores in databases 0 and 1 of Redis, for a fixture. Only the first has an SQL database."""
    worlds = []
    for number in (0, 1):
        url = f"{redis_url}?db={number}"
        store = await Store.open(url, POLICY, partitions, clock=clock)
        for name in PEOPLE:
            await registered(store, name)
        worlds.append(World(store, client(url), database if number == 0 else None))
    yield Pair(*worlds, clock)
    for world in worlds:
        await world.store.close()
        world.redis.close()


def upvoters(world: World) -> dict[str, set[str]]:
    """By whom each user was upvoted, as the rule about flags counts them."""
    site = world.store.site
    accounts = {name: keys.user(site.partition_of_user(name), name) for name in PEOPLE}
    return {name: set((world.redis.hget(key, "upvoters") or "").split()) for name, key in accounts.items()}


async def votes_of_mallory(database: Database) -> list[tuple[Any, ...]]:
    """The votes of Mallory in the database: number, value, unix milliseconds, whether it counts, poster."""

    def read(connection: Any) -> list[tuple[Any, ...]]:
        found = []
        for votes, things in ((VOTES, ARTICLES), (COMMENT_VOTES, COMMENTS)):
            columns = (votes.c.number, votes.c.value, votes.c.cast_ms, votes.c.counts, things.c.poster)
            statement = select(*columns).join(things, things.c.number == votes.c.number)
            rows = connection.execute(statement.where(votes.c.voter == "Mallory").order_by(votes.c.number))
            found += [tuple(row) for row in rows]
        return found

    return await database.run(read)


async def counts_in(database: Database) -> dict[int, tuple[int, int]]:
    """Upvotes and downvotes of each article and comment in the database."""

    def read(connection: Any) -> dict[int, tuple[int, int]]:
        found = {}
        for table in (ARTICLES, COMMENTS):
            for row in connection.execute(select(table.c.number, table.c.up, table.c.down)):
                found[row.number] = (row.up, row.down)
        return found

    return await database.run(read)


def counts_of(world: World) -> dict[int, tuple[int, int]]:
    """Upvotes and downvotes of each article and comment in Redis."""
    found = {}
    for key in world.redis.scan_iter():
        if key.startswith(("article:", "comment:")):
            up, down = world.redis.hmget(key, "up", "down")
            found[int(key.rpartition(":")[2])] = (int(up), int(down))
    return found
