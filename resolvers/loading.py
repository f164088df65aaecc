"""A dataloader for reads: each is asked for once, and those of a tick leave as one pipeline."""

import asyncio
from collections.abc import Iterable
from typing import Any

from store.connection import Connection
from store.errors import StoreUnavailable
from store.reads import Read

TICKS = 2  # of the loop, for all who are on their way to ask


class Question:
    """A read, and its result or its error once it has no batch any more."""

    __slots__ = ("batch", "error", "read", "result")

    def __init__(self, read: Read[Any]) -> None:
        self.read = read
        self.batch: Batch | None = None
        self.result: Any = None
        self.error: Exception | None = None

    def answer(self, reply: Any) -> None:
        """A reply that is an error, or means nothing, is the error of this read alone."""
        self.batch = None
        if type(reply) is StoreUnavailable:
            self.error = reply
            return
        try:
            self.result = self.read.result(reply)
        except Exception as error:
            self.error = error


class Batch:
    """Questions that leave together. Somebody has them answered, the others wait for that."""

    __slots__ = ("_turn", "error", "is_led", "questions")

    def __init__(self) -> None:
        self.questions: list[Question] = []
        self.is_led = True
        self.error: Exception | None = None
        self._turn: asyncio.Event | None = None

    def leave(self, error: Exception | None = None) -> None:
        """Whoever led has the answers or an error, or goes away; then one of the others leads."""
        self.is_led, self.error = False, error
        if self._turn:
            self._turn.set()
            self._turn = None

    async def turn(self) -> None:
        """Wait until nobody leads any more. Raises what asking raised."""
        if self.is_led:
            self._turn = self._turn or asyncio.Event()
            await self._turn.wait()
        if self.error:
            raise self.error


class Loader:
    """
    Results are kept as long as it lives.

    Whoever asks first in a tick sends the pipeline for all: a request that waits for one thing at a time, as most do,
    needs no task and wakes nobody for it.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._questions: dict[Read[Any], Question] = {}
        self._gathering: Batch | None = None

    async def load(self, wanted: Iterable[Read[Any]], beside: Read[Any] | None = None) -> list[Any]:
        """
        The results of reads; if any of them is new, `beside` is read as well. One round trip, or none.

        Raises what the first of them that failed has failed with. Others that left in the same pipeline have results.
        """
        asked, new = [], []
        for read in wanted:
            question = self._questions.get(read)
            if question is None:
                new.append(question := self._question(read))
            asked.append(question)
        if new:
            if beside and beside not in self._questions:
                new.append(self._question(beside))
            is_first = self._gathering is None
            gathering = self._gathering = self._gathering or Batch()
            gathering.questions += new
            for question in new:
                question.batch = gathering
            if is_first:
                await self._lead(gathering)
        for question in asked:
            while batch := question.batch:
                await batch.turn()
                if question.batch and not batch.is_led:
                    await self._lead(batch)
            if question.error:
                raise question.error
        return [question.result for question in asked]

    def _question(self, read: Read[Any]) -> Question:
        question = self._questions[read] = Question(read)
        return question

    async def _lead(self, batch: Batch) -> None:
        batch.is_led = True
        try:
            if batch is self._gathering:
                for _ in range(TICKS):
                    await asyncio.sleep(0)
                self._gathering = None
            replies = await self._connection.replies([question.read.command for question in batch.questions])
            for question, reply in zip(batch.questions, replies, strict=True):
                question.answer(reply)
        except Exception as error:
            batch.leave(error)
            raise
        except asyncio.CancelledError:
            if batch is self._gathering:
                self._gathering = None
            batch.leave()
            raise
        batch.leave()
