"""A world: a server with random settings, and a random history that is generated while it runs."""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from tests.soak.documents import Document, DocumentGenerator
from tests.soak.formulas import Policy
from tests.soak.history import Operation, Ref, Step
from tests.soak.inputs import VariableGenerator
from tests.soak.records import Article, Comment, User
from tests.soak.running import POSTED, Difference, Run
from tests.soak.server import ROOT, Server

BEGINNING = 1_600_000_000_000  # unix milliseconds
USERS = ("alice", "Bob", "carol", "Dave-1", "eve_x", "Frank")
MOST_ARTICLES = 120
MOST_COMMENTS = 180  # the deletion of an article waits for its first 200 to be removed
READS, WRITES = 60, 60  # documents that are sent again with other variables
NEW = 0.04  # share of new documents
LAG = 20_000  # milliseconds that the clock of a world may be behind the real one, by which Redis expires voters
EVENTS = ("drop", "restart", "kill", "expire", "day")
BETWEEN_EVENTS = 500  # operations
INDEPENDENT = ("post", "comment", "vote", "voteOnComment", "followUser", "unfollowUser")


@dataclass(frozen=True)
class Settings:
    """The settings of the server of a world."""

    partitions: int
    cache: int | None
    policy: Policy

    def of_server(self) -> dict[str, Any]:
        settings = {
            "workers": 2,
            "partitions": self.partitions,
            "voting_window": self.policy.voting_window,
            "good_votes": self.policy.good_votes,
            "vote_score": self.policy.vote_score,
            "hot_seconds": self.policy.hot_seconds,
        }
        return settings if self.cache is None else settings | {"cache": self.cache}


def settings_of(seed: int) -> Settings:
    """Four consecutive seeds have all combinations of partitions and caches."""
    random = Random(seed)
    policy = Policy(vote_score=random.choice((1.0, 1.0, 100.0, 432.0)), voting_window=random.choice((8, 20, 60)))
    return Settings((1, 16)[seed % 2], (None, 5)[seed // 2 % 2], policy)


class World:
    def __init__(self, seed: int, root: Path = ROOT) -> None:
        self.random = Random(seed)
        self.seed = seed
        self.settings = settings_of(seed)
        self.server = Server(self.settings.of_server(), root)
        self.run = Run(self.server, self.settings.policy, self.settings.partitions)
        self.steps: list[Step] = []
        self._reading: list[Document] = []
        self._writing: list[Document] = []
        self._now = BEGINNING
        self._posts = 0  # at this instant
        self._began = time.monotonic()
        self._operations = self._count = 0
        self._events: list[str] = []
        self._event_at = self.random.randint(1, BETWEEN_EVENTS)

    async def generate(self, operations: int, until: float) -> None:
        """
        Run `operations` operations, at most until an instant of the monotonic clock.

        Raises:
            Difference: the server does not answer as the model does.
        """
        self.server.clock.set(self._now)
        self.server.start()
        await self.server.ready()
        for step in self._beginning():
            await self._do(step)
        while self._operations < operations and time.monotonic() < until:
            await self._do(self._next())
            await self._log_in_again()

    async def _do(self, step: Step) -> None:
        self.steps.append(step)
        await self.run.step(step)

    def _beginning(self) -> Iterator[Step]:
        for place, name in enumerate(USERS):
            given = {"i_m0": {"username": name, "password": "correct horse 1"}}
            document = self._generator().mutation("register")
            values = VariableGenerator(self.random, self.run.model, self.run.known, None).variables(document) | given
            yield self._step("together", [self._operation(document, None, values)])
            self._now += place

    def _next(self) -> Step:
        """The next step: mostly a single read or write."""
        self._advance()
        if self._operations > self._event_at:
            self._event_at = self._operations + self.random.randint(1, 2 * BETWEEN_EVENTS)
            return self._event()
        if self.run.model.articles and self.random.random() < 0.015:
            return self._step("together", [self._last_vote()])
        kind = self.random.random()
        if kind < 0.42:
            return self._step("together", [self._read()])
        if kind < 0.72:
            return self._step("together", [self._write()])
        if kind < 0.84:
            return self._step("together", self._reads())
        if kind < 0.90:
            return self._step("writes", self._independent())
        reads = [each for _ in range(4) if not pins(each := self._read())][:3]
        return self._step("overtaken" if reads else "together", [*reads, self._write(alone=True)])

    def _event(self) -> Step:
        if not self._events:
            self._events = self.random.sample(EVENTS, len(EVENTS))
        kind = self._events.pop()
        if kind == "expire":
            self._now += self.settings.policy.session_ttl * 1000 + 1_000
        elif kind == "day":
            self._now += self.settings.policy.session_ttl * 200
            kind = "together"
            return self._step(kind, [self._read()])
        return self._step(kind, [])

    def _advance(self) -> None:
        """
        Advance the clock: mostly not at all or by whole seconds, so that many instants and values are equal.

        It advances at least one millisecond for each article or comment posted at the last instant, as their numbers
        would otherwise run ahead of the clock.
        """
        step = self.random.choice((0, 0, 0, 0, 1, 1, 7, 200, 1000, 1000))
        if step and step < self._posts:
            step = self._posts
        behind = BEGINNING + (time.monotonic() - self._began) * 1000 - LAG - self._now
        if behind > 0:
            step = max(step, int(behind))
        if step:
            self._posts = 0
        self._now += step
        if self._now % 1_000 > 900:  # pins of one's own are kept at the instants after this, up to the next second
            self._now += 1_000 - self._now % 1_000

    def _step(self, kind: str, operations: list[Operation]) -> Step:
        count = 2 * len(operations)  # reads that are sent twice use another connection each time
        connections = tuple(self.random.sample(range(len(self.server.connections)), count))
        self._operations += len(operations)
        return Step(kind, self._now, tuple(operations), connections)

    def _read(self) -> Operation:
        """A document that was sent before, with other variables; sometimes a new one."""
        return self._with_variables(self._repeated(self._reading, READS, self._generator().query), self._viewer())

    def _repeated(self, known: list[Document], most: int, new: Callable[[], Document]) -> Document:
        if len(known) < most or self.random.random() < NEW:
            known.append(new())
        if len(known) > most:
            del known[self.random.randrange(most)]
        return self.random.choice(known)

    def _reads(self) -> list[Operation]:
        """Several reads at once, some of them equal."""
        chosen = [self._read() for _ in range(self.random.randint(1, 4))]
        return chosen + [self._again(self.random.choice(chosen)) for _ in range(self.random.randint(1, 5))]

    def _again(self, operation: Operation) -> Operation:
        """The same query by the same viewer or by another one."""
        token = operation.token if self.random.random() < 0.7 else self._token(self._viewer())
        self._count += 1
        return replace(operation, number=self._count, token=token)

    def _write(self, *, alone: bool = False) -> Operation:
        model = self.run.model
        if len(model.articles) > MOST_ARTICLES or len(model.comments) > MOST_COMMENTS:
            document = self._generator().plain_mutation("deleteArticle")
        elif alone or self.random.random() < 0.1:
            document = self._generator().mutation(alone=alone)
        else:
            document = self._repeated(self._writing, WRITES, self._generator().mutation)
        viewer = self._viewer(0.96)
        self._posts += sum(each in POSTED for _, each in document.mutations)
        return self._with_variables(document, viewer)

    def _last_vote(self) -> Operation:
        """A vote at the last instant at which an article or a comment takes votes, or one millisecond later."""
        model, known = self.run.model, self.run.known
        of_comment = bool(model.comments) and self.random.random() < 0.4
        subjects: Iterable[Article | Comment] = (model.comments if of_comment else model.articles).values()
        subject = min(subjects, key=lambda each: (model.closes_at(each) < self._now, model.closes_at(each)))
        self._now = max(self._now + self._posts, model.closes_at(subject) + self.random.choice((0, 0, 1)))
        self._posts = 0
        name, field, ids = "vote", "articleId", known.articles
        if of_comment:
            name, field, ids = "voteOnComment", "commentId", known.comments
        given = {field: ids[subject.number], "value": self.random.choice(("UP", "DOWN"))}
        return self._operation(self._generator().plain_mutation(name), self._viewer(1), {"i_m0": given})

    def _independent(self) -> list[Operation]:
        """
        Writes of different users at once. The payload of each is independent of the others. At most one is a vote on a
        comment, as the pages of a thread depend on their order.
        """
        users = self.random.sample(list(self.run.model.users.values()), self.random.randint(2, 5))
        operations = []
        for place, user in enumerate(users):
            name = self.random.choice([each for each in INDEPENDENT if each != "voteOnComment" or place == 0])
            self._posts += name in POSTED
            operations.append(self._with_variables(self._generator().plain_mutation(name), user))
        return operations

    def _viewer(self, logged_in: float = 0.8) -> User | None:
        users = list(self.run.model.users.values())
        return self.random.choice(users) if self.random.random() < logged_in else None

    def _with_variables(self, document: Document, viewer: User | None) -> Operation:
        generator = VariableGenerator(self.random, self.run.model, self.run.known, viewer)
        return self._operation(document, viewer, generator.variables(document))

    def _operation(self, document: Document, viewer: User | None, variables: dict[str, Any]) -> Operation:
        self._count += 1
        return Operation(self._count, self._token(viewer), document.text, variables, document.mutations)

    def _token(self, viewer: User | None) -> Ref | str | None:
        if viewer is None:
            return "junk" if self.random.random() < 0.05 else None
        known = self.run.known.sessions[viewer.lower]
        alive = [ref for token, ref in known if token in self.run.model.sessions]
        dead = [ref for token, ref in known if token not in self.run.model.sessions]
        if dead and (not alive or self.random.random() < 0.03):
            return dead[-1]
        return self.random.choice(alive[-2:]) if alive else None

    def _generator(self) -> DocumentGenerator:
        return DocumentGenerator(self.random)

    async def _log_in_again(self) -> None:
        """Log in one of the users that have no session, sometimes."""
        for user in self.run.model.users.values():
            if user not in self.run.model.sessions.values() and self.random.random() < 0.2:
                given = {"i_m0": {"username": user.name, "password": user.password}}
                document = self._generator().mutation("logIn")
                values = self._with_variables(document, None).variables | given
                await self._do(self._step("together", [self._operation(document, None, values)]))
                return

    async def close(self) -> None:
        try:
            await self.server.stop()
        except Exception:
            await self.server.kill()
        self.server.discard()


def pins(operation: Operation) -> bool:
    """Whether an operation may pin a listing. Sent beside a write, the content of its pin would be unknown."""
    return "pinned" in operation.text


async def replay(settings: Settings, steps: list[Step], root: Path = ROOT) -> Difference | None:
    """Run a history again on a new store, and return the first difference."""
    server = Server(settings.of_server(), root)
    run = Run(server, settings.policy, settings.partitions)
    try:
        server.clock.set(BEGINNING)
        server.start()
        await server.ready()
        for step in steps:
            await run.step(step)
    except Difference as found:
        return found
    finally:
        await asyncio.shield(server.kill())
        server.discard()
    return None
