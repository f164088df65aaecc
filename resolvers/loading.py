"""A dataloader for reads: each is asked for once, and those of a tick leave as one pipeline."""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from store.connection import Connection
from store.reads import Read

TICKS = 2  # of the loop, for all who are on their way to ask


class Question:
    """A read, and its result once it has no batch any more."""

    __slots__ = ("batch", "read", "result")

    def __init__(self, read: Read[Any]) -> None:
        self.read = read
        self.batch: Batch | None = None

    def answer(self, result: Any) -> None:
        self.result, self.batch = result, None


class Batch:
    """Questions that leave together, and what became of them."""

    __slots__ = ("_ended", "error", "questions")

    def __init__(self) -> None:
        self.questions: list[Question] = []
        self.error: Exception | None = None
        self._ended: asyncio.Event | None = None

    @property
    def is_awaited(self) -> bool:
        return self._ended is not None

    def end(self, error: Exception | None = None) -> None:
        self.error = error
        if self._ended:
            self._ended.set()

    async def ended(self) -> None:
        """Wait for the answers. Raises what asking raised."""
        if self.error is None:
            self._ended = self._ended or asyncio.Event()
            await self._ended.wait()
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
        self._rescue: asyncio.Task[None] | None = None

    def learn(self, read: Read[Any], result: Any) -> None:
        """Spare a read."""
        self._question(read).answer(result)

    async def load(self, wanted: Iterable[Read[Any]], beside: Read[Any] | None = None) -> list[Any]:
        """The results of reads; if any of them is new, `beside` is read as well. One round trip, or none."""
        asked, new = [], []
        for read in wanted:
            question = self._questions.get(read)
            if question is None:
                new.append(question := self._question(read))
            asked.append(question)
        if new:
            if beside and beside not in self._questions:
                new.append(self._question(beside))
            await self._ask(new)
        for question in asked:
            if question.batch:
                await question.batch.ended()
        return [question.result for question in asked]

    def _question(self, read: Read[Any]) -> Question:
        question = self._questions[read] = Question(read)
        return question

    async def _ask(self, new: Sequence[Question]) -> None:
        is_first = self._gathering is None
        batch = self._gathering = self._gathering or Batch()
        batch.questions += new
        for question in new:
            question.batch = batch
        if is_first:
            await self._gather(batch)

    async def _gather(self, batch: Batch) -> None:
        try:
            try:
                for _ in range(TICKS):
                    await asyncio.sleep(0)
            finally:
                self._gathering = None
            await self._send(batch)
        except asyncio.CancelledError:
            self._leave(batch)
            raise

    async def _send(self, batch: Batch) -> None:
        try:
            replies = await self._connection.pipeline([question.read.command for question in batch.questions])
            for question, reply in zip(batch.questions, replies, strict=True):
                question.answer(question.read.result(reply))
        except Exception as error:
            batch.end(error)
            raise
        batch.end()

    def _leave(self, batch: Batch) -> None:
        """Whoever would have sent a batch goes away: it is sent for the others, or nobody has asked."""
        if batch.is_awaited:
            self._rescue = asyncio.create_task(self._resend(batch))
        else:
            for question in batch.questions:
                self._questions.pop(question.read, None)

    async def _resend(self, batch: Batch) -> None:
        with suppress(Exception):  # which those who wait are told
            await self._send(batch)
