"""
Random histories in which moderators annul votes of Mallory by two actions, with interruptions, and revert both: the
store is then as one in which nothing was annulled.

A `pair` is two stores with the same history: `pair.world`, in which votes are annulled, and `pair.other`, in which they
never are.

`on_both` runs a test with SQLite and with PostgreSQL. `first` marks all parameters of a test but the first ones as
slow: `make test` leaves them out.

Codes such as M8 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from archive import annulments, pace, write_back
from database import conversations
from database.database import Database
from store import annulments as steps
from store.annulments import Step
from store.moderation_records import AnnulmentState, ModerationAction
from store.records import Vote
from tests.archive.annulling import PEOPLE, Pair, counts_in, counts_of, opened, votes_of_mallory
from tests.database.conftest import on_both
from tests.examples import first

pytestmark = pytest.mark.one_server

SEEDS = first(range(4))
STEPS = 60
GROUPS = ("show", "ask", "news")


class Killed(Exception):
    """The process ends."""


class History:
    """Random operations on a pair of stores, of which one annuls. Some may be refused, then by both."""

    def __init__(self, pair: Pair, chance: random.Random) -> None:
        self.pair, self.chance = pair, chance
        self.actions: list[ModerationAction] = []
        self.steps_left: int | None = None  # until the process ends; None: it does not
        self.done: Counter[str] = Counter()  # how often each kind of operation was done, or a case came up

    async def step(self) -> None:
        """Do something at random: call the method of one of these names."""
        name = self.chance.choice(
            ["vote"] * 8 + ["post"] * 3 + ["comment"] * 2 + ["delete", "edit", "archive", "settle", "settle", "close"]
        )
        self.done[name] += 1
        await getattr(self, name)()

    async def vote(self) -> None:
        number = self.chance.choice([*self.pair.articles, *self.pair.comments])
        await self.pair.vote(self.chance.choice(PEOPLE), number, self.chance.choice(list(Vote)))

    async def post(self) -> None:
        groups = self.chance.sample(GROUPS, self.chance.randrange(3))
        number = await self.pair.post(self.chance.choice(PEOPLE), *groups)
        for voter in PEOPLE:
            await self.pair.vote(voter, number, self.chance.choice([Vote.UP, Vote.DOWN]))

    async def comment(self) -> None:
        """A comment on one of the newest articles, and replies to some new comments. Mallory votes on all of these."""
        text, number = f"comment {self.pair.clock.now}", self.chance.choice(self.pair.articles[-3:])
        poster = self.chance.choice(PEOPLE)
        found = [each for each in self.pair.comments[-3:] if self.chance.random() < 0.3]
        for parent in (None, *found):
            posted = await self.change(
                number, lambda store, above=parent: store.comments.post(number, above, poster, f"{text} {above}")
            )
            if not isinstance(posted, type):
                self.pair.comments.append(posted.comment.number)
                await self.pair.vote("Mallory", posted.comment.number, self.chance.choice([Vote.UP, Vote.DOWN]))

    async def delete(self) -> None:
        number, who = self.chance.choice([*self.pair.articles, *self.pair.comments]), self.chance.choice(PEOPLE)
        for poster in (who, *PEOPLE):
            if number in self.pair.articles:
                await self.change(number, lambda store, name=poster: store.articles.delete(number, name))
            else:
                await self.change(number, lambda store, name=poster: store.comments.delete(number, name))
        await self.pair.world.finish()
        await self.pair.other.finish()

    async def edit(self) -> None:
        number = self.chance.choice(self.pair.articles)
        title = f"edited at {self.pair.clock.now}"
        for poster in PEOPLE:
            await self.change(number, lambda store, name=poster: store.articles.edit(number, name, {"title": title}))

    async def change(self, number: int, command: Callable[[Any], Any]) -> Any:
        """
        Run a command in both stores on an article that may be archived in one: there it is written back to Redis first.
        """
        await self.pair.world.mirror()
        await write_back.bring_back(self.pair.world.store, self.pair.world.database, number)
        return await self.pair.both(command)

    async def archive(self) -> None:
        await self.pair.world.archive()
        self.done["comments that have left"] += len(await self.comments_that_have_left())

    async def comments_that_have_left(self) -> set[int]:
        world = self.pair.world
        assert world.database
        found = await world.database.run(partial(conversations.archived, numbers=self.pair.comments))
        return {each.number for each in found}

    async def close(self) -> None:
        """Time passes, and the voters of what is closed are forgotten."""
        if self.chance.random() < 0.5:
            await self.pair.world.mirror()
            self.pair.close_voting()

    async def settle(self) -> None:
        """The tasks of a server run, and may be killed after any step."""
        self.steps_left, before = self.chance.choice([None, *range(6)]), await self.comments_that_have_left()
        with suppress(Killed, annulments.ConsumerBehind):
            await self.pair.world.settle()
            self.done["settled"] += 1
        self.steps_left = None
        assert before <= await self.comments_that_have_left()  # no conversation came back

    async def take_step(self, run: Any, *arguments: Any, **named: Any) -> Step:
        """A step, before or after which the process may end."""
        if self.steps_left is not None:
            self.steps_left -= 1
            if self.steps_left < 0:
                self.done["killed"] += 1
                if self.chance.random() < 0.5:
                    await run(*arguments, **named)
                raise Killed
        done: Step = await run(*arguments, **named)
        return done


def interrupt(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the steps in which votes are annulled and restored be short, and let the process end at some of them."""
    annul_some, restore_some = steps.annul_some, steps.restore_some
    monkeypatch.setattr(steps, "annul_some", lambda *given, **named: history.take_step(annul_some, *given, **named))
    monkeypatch.setattr(steps, "restore_some", lambda *given, **named: history.take_step(restore_some, *given, **named))
    monkeypatch.setattr(pace, "MOST", 3)
    monkeypatch.setattr(annulments, "READ_AT_ONCE", 7)


@on_both
@pytest.mark.parametrize("seed", SEEDS)
async def test_annulled_and_restored_equals_never_annulled(
    redis_url: str, partitions: int, clock: Any, each_database: Database, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:  # M8
    async for pair in opened(redis_url, partitions, clock, each_database):
        history = History(pair, random.Random(seed))
        interrupt(history, monkeypatch)
        await pair.fill()
        await run(history)

        await pair.world.mirror()
        pair.close_voting()
        await history.archive()
        await pair.world.settle()
        await assert_annulled(history)
        for action in history.chance.sample(history.actions, 2):
            pair.clock.advance(1)
            await pair.world.revert(action)
            for _ in range(STEPS // 6):
                await history.step()
        await pair.world.settle()
        await assert_restored(history)


async def run(history: History) -> None:
    """Operations before, between and after two actions that annul the votes of Mallory."""
    for _ in range(2):
        for _ in range(STEPS // 3):
            await history.step()
        history.pair.clock.advance(1)
        history.actions.append(await history.pair.world.annul())
        history.pair.clock.advance(1)
    for _ in range(STEPS // 3):
        await history.step()


async def assert_annulled(history: History) -> None:
    """
    Every vote of Mallory that was cast before an action is annulled, but for those on her own texts, and on stubs:
    deleted comments that have replies.
    """
    world = history.pair.world
    assert world.database
    last = max(action.at for action in history.actions)
    rows = await votes_of_mallory(world.database)
    assert rows
    for _, _, at, counts, poster in rows:
        if at <= last:
            assert counts == (poster == "Mallory")
    for action in history.actions:
        found = (await world.read(action)).annulment
        assert found and found.state is AnnulmentState.DONE
    assert await history.pair.findings() == []


async def assert_restored(history: History) -> None:
    """Every vote counts again, both stores are equal, and nothing is left of the actions but their records."""
    pair, world = history.pair, history.pair.world
    assert world.database
    for number in pair.articles:
        await write_back.bring_back(world.store, world.database, number)
    pair.assert_equal()
    assert await pair.findings() == []
    assert all(counts for *_, counts, _ in await votes_of_mallory(world.database))
    assert await counts_in(world.database) == counts_of(world) == counts_of(pair.other)
    assert not any(world.redis.keys(f"{kind}:*") for kind in ("annulled", "cases", "annulling"))
    for action in history.actions:
        found = (await world.read(action)).annulment
        assert found and (found.state, found.held, found.done) == (AnnulmentState.RESTORED, 0, found.total)
    assert history.done["killed"] and history.done["settled"] and history.done["comments that have left"]
