"""
One run of a history, a list of requests and events, on a server and on the model of it, which compares every answer of
the server with the model's.

The mirror is the SQL database that follows what is written to Redis. Old articles leave Redis, and are then read from
the database. A pin is the copy of a listing or a thread that a client reads page by page.
"""

import asyncio
import math
import time
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import Any

from tests.soak.answers import Answer, answer
from tests.soak.archiving import LISTED_COMMENTS
from tests.soak.comparing import difference, is_between, unanswered
from tests.soak.formulas import Policy
from tests.soak.history import Operation, Step, resolved
from tests.soak.model import Mirror, Model
from tests.soak.notes import Notes
from tests.soak.pages import Listings, Position
from tests.soak.requests import Request
from tests.soak.server import Server
from tests.soak.threads import Threads

PATIENCE = 60.0  # seconds that the database may take to follow
REFUSED_FOR_COST = {"COST_LIMIT_EXCEEDED", "ANSWER_TOO_LARGE"}


@dataclass
class Difference(Exception):
    """The first answer of the server that differs from the model's."""

    step: Step
    operation: Operation | None
    what: str
    answered: Any = None

    def __str__(self) -> str:
        return self.what


class HistoryRun:
    """
    One run of a history on a new store. `notes` has what the server has assigned: ids, tokens and cursors. `listings`
    and `threads` are what the model knows of pages.
    """

    def __init__(self, server: Server, policy: Policy, partitions: int) -> None:
        self.server = server
        self.model = Model(policy, partitions)
        self.listings, self.threads = Listings(self.model), Threads(self.model)
        self.notes = Notes(server, self.model)
        self.refused = 0  # operations that the server has refused because of their cost
        self.dropped_at = -math.inf  # when the connections of the server were last lost, by the monotonic clock
        self.archiving: asyncio.Task[list[int] | str] | None = None  # lets articles leave Redis: see `Server.archive`

    def begin(self, at: int) -> None:
        """Begin a step at an instant, in unix milliseconds: set the clocks of the server and of the model."""
        self.model.now = at
        self.server.clock.set(at)
        self.threads.forget_replaced()

    async def send(self, step: Step) -> None:
        """Send operations at the same time: either reads, or writes that are independent of each other."""
        if self.model.mirror is Mirror.UP and any(map(is_search, step.operations)):
            await self.wait_for_mirror(step)
        same = len(step.operations) - len({(each.text, repr(each.variables), each.token) for each in step.operations})
        self.model.reached.count("equal queries at once", same if len(step.operations) > 1 else 0)
        if len(step.operations) == 1:
            answers = [await self.ask(step, index=0)]
        else:
            answers = await asyncio.gather(*(self.ask(step, index) for index in range(len(step.operations))))
        for operation, answered in zip(step.operations, answers, strict=True):
            await self.notes.note_numbers(operation, answered)
            self.compare(step, operation, answered)

    async def wait_for_mirror(self, step: Step) -> None:
        """Wait until the database has all changes."""
        until = time.monotonic() + PATIENCE
        while (state := await self.server.database_state()) != "up to date":
            if time.monotonic() > until:
                raise Difference(step, operation=None, what=f"the database stays behind: {state}")
            await asyncio.sleep(0.02)

    async def note_archived(self) -> None:
        """Wait until the articles that are leaving Redis have left, and tell the model which these are."""
        if self.archiving is None:
            return
        archived_or_reason, self.archiving = await self.archiving, None
        self.model.note_long_lists(LISTED_COMMENTS)
        if isinstance(archived_or_reason, str):
            self.model.reached.count(f"articles could not leave: {archived_or_reason[:100]}")
            closed = [each for each in self.model.articles.values() if not self.model.has_voters(each)]
            self.model.have_left |= {each.number for each in closed}  # some may have left before the process was killed
        else:
            archived, talked = set(archived_or_reason), {each.article.number for each in self.model.comments.values()}
            left, returned = archived - self.model.archived, self.model.archived - archived
            removed = {number for number, each in self.model.articles.items() if each.state == "REMOVED"}
            self.model.reached.count("articles that have left", len(left))
            self.model.reached.count("articles that came back", len(returned & self.model.articles.keys()))
            self.model.reached.count("removed articles that have left", len(left & removed))
            self.model.reached.count("conversations that have left", len(left & talked))
            self.model.reached.count("conversations that came back", len(returned & talked))
            self.model.archived, self.model.is_leaving = archived, False
            self.model.have_left |= archived

    def compare_either(self, step: Step, operation: Operation, before: Answer, answered: dict[str, Any]) -> None:
        """Compare the answer to a read beside a write: each part of it may be as before, or as after the write."""
        after = self.expected(operation, hints={})
        codes = {code for _, code in (*before.errors, *after.errors)}
        for error in answered.get("errors", ()):
            if error["extensions"]["code"] not in codes and not self._is_refused_for_cost(answered):
                raise Difference(step, operation, f"neither before nor after has this error: {error}", answered)
        if answered.get("data") and not answered.get("errors") and not codes:
            for key in answered["data"]:
                if not is_between(answered["data"][key], before.data[key], after.data[key]):
                    raise Difference(step, operation, f"{key} is neither as before nor as after a write", answered)

    async def ask(self, step: Step, index: int, skipped_connections: int = 0) -> dict[str, Any]:
        """
        Send the operation of a step with this index, and return the answer. It goes over the connection of the step
        that has this index, after the ones that are skipped.
        """
        operation = step.operations[index]
        connection = self.server.connections[step.connections[index + skipped_connections]]
        variables = resolved(operation.variables, self.notes.texts)
        try:
            return await connection.ask(operation.text, variables, resolved(operation.token, self.notes.texts))
        except (OSError, TimeoutError) as error:
            raise Difference(step, operation, f"no answer: {error!r}") from error

    def compare(
        self, step: Step, operation: Operation, answered: dict[str, Any], *, notes_cursors: bool = True
    ) -> None:
        """
        Raises:
            Difference: the answer is not the model's. What the database answers need not be there while it is away.
        """
        self.model.reached.count("operations")
        if self._is_refused_for_cost(answered):
            self.refused += 1
            return
        if self.model.mirror is Mirror.AWAY and not operation.mutations and _codes(answered) == {"TIMEOUT"}:
            self.model.reached.count("reads that wait too long for a paused database")
            return
        self._note_expired_pins(answered)
        hints = self.notes.hints(operation, answered.get("data") or {})
        unavailable = unanswered(answered) if self.model.mirror is Mirror.AWAY else frozenset()
        self.model.reached.count("answers without the database", self.model.mirror is Mirror.AWAY and not unavailable)
        self.model.reached.count("fields that are unavailable", len(unavailable))
        try:
            expected = self.expected(operation, hints, undone={path[0] for path in unavailable if len(path) == 1})
        except AssertionError as error:
            raise Difference(step, operation, f"the model does not accept the answer: {error}", answered) from error
        check_cursor = partial(self.notes.note_cursor, operation) if notes_cursors else any_cursor
        wrong = difference(expected, answered, check_cursor, unavailable)
        if wrong:
            raise Difference(step, operation, wrong, answered)
        self.model.reached.count("ended sessions reported", expected.session_ended is True)

    def _note_expired_pins(self, answered: dict[str, Any]) -> None:
        for pin in answered.get("extensions", {}).get("expiredPins", ()):
            kind, _, thread = pin.partition(":")
            if kind == "thread":
                article, order = thread.split(":")
                self.threads.forget_expired(int(article), order.upper())

    def _is_refused_for_cost(self, answered: dict[str, Any]) -> bool:
        return "data" not in answered and _codes(answered) <= REFUSED_FOR_COST

    def expected(self, operation: Operation, hints: dict[str, Any], undone: Collection[Any] = ()) -> Answer:
        """
        The model's answer. `hints` are what the server has assigned: see `Notes.hints`. `undone` are the mutations that
        were not done, by response name.
        """
        token = resolved(operation.token, self.notes.texts)
        variables = resolved(operation.variables, self.notes.texts)
        request = Request(
            self.model,
            self.listings,
            self.threads,
            token if token in self.notes.users else None,
            variables,
            lambda text: self.notes.positions.get(text, text),
            hints,
            is_junk=token is not None and token not in self.notes.users,
            undone=frozenset(undone),
        )
        return answer(request, operation.text)


def _codes(answered: dict[str, Any]) -> set[str | None]:
    return {error.get("extensions", {}).get("code") for error in answered.get("errors", [{}])}


def is_search(operation: Operation) -> bool:
    """Whether what an operation answers comes from the database, which follows the store."""
    return "search(" in operation.text


def any_cursor(path: tuple[str | int, ...], text: str, position: Position) -> str | None:
    """Accepts any cursor, in place of `Notes.note_cursor`."""
    return None
