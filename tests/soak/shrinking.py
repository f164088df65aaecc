"""
Shrinks a history, a list of requests and events that ends in a difference between server and model: removes parts of
it as long as the difference remains.

Every try runs on a new store. A difference counts as the same if it is in the same operation.
"""

import re
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from tests.soak.history import Operation, Step, StepKind
from tests.soak.running import Difference

Try = Callable[[list[Step]], Awaitable[Difference | None]]


class Shrinker:
    """
    Shrinks one history. `attempt` runs a history and returns its difference, if any. `until` is when shrinking ends, by
    the monotonic clock.
    """

    def __init__(self, attempt: Try, until: float) -> None:
        self._attempt, self._until = attempt, until
        self._number: int | None = None
        self.tries = 0

    async def shrunk(self, steps: list[Step], found: Difference) -> tuple[list[Step], Difference | None]:
        """The shortest history found, and its difference; None if the difference did not appear again."""
        self._number = found.operation.number if found.operation else None
        first = await self._differs(steps)
        if first is None:
            return steps, None
        found, steps = first, steps[: self._index_of(steps, first) + 1]
        for guess in (needed(steps), [*writes(steps), steps[-1]]):
            steps, found = await self._tried(guess, steps, found)
        size = max(len(steps) // 2, 1)
        while size and len(steps) > 1 and time.monotonic() < self._until:
            steps, found, has_shrunk = await self._without(steps, found, size)
            if not has_shrunk or size > 1:
                size //= 2
        return await self._fewer_operations(steps, found)

    async def _without(self, steps: list[Step], found: Difference, size: int) -> tuple[list[Step], Difference, bool]:
        """Try to remove each run of `size` steps, the latest first."""
        has_shrunk = False
        start = len(steps) - 1 - size
        while start > -size and time.monotonic() < self._until:
            begin = max(start, 0)
            shorter, found = await self._tried(steps[:begin] + steps[start + size :], steps, found)
            has_shrunk |= len(shorter) < len(steps)
            steps = shorter
            start -= size
        return steps, found, has_shrunk

    async def _fewer_operations(self, steps: list[Step], found: Difference) -> tuple[list[Step], Difference]:
        """Try to remove operations from steps that have several."""
        for index in reversed(range(len(steps))):
            for operation in steps[index].operations:
                if time.monotonic() < self._until and len(steps[index].operations) > 1:
                    fewer = [*steps[:index], without(steps[index], operation), *steps[index + 1 :]]
                    steps, found = await self._tried(fewer, steps, found)
        return steps, found

    async def _tried(self, fewer: list[Step], steps: list[Step], found: Difference) -> tuple[list[Step], Difference]:
        """The shorter history up to its difference, and that; if it has none, the known history and its difference."""
        if len(fewer) == len(steps) and fewer == steps:
            return steps, found
        now = await self._differs(fewer)
        return (fewer[: self._index_of(fewer, now) + 1], now) if now else (steps, found)

    async def _differs(self, steps: list[Step]) -> Difference | None:
        self.tries += 1
        found = await self._attempt(steps)
        number = found.operation.number if found and found.operation else None
        return found if number == self._number else None

    def _index_of(self, steps: Sequence[Step], found: Difference) -> int:
        return next(index for index, step in enumerate(steps) if step is found.step)


def needed(steps: list[Step]) -> list[Step]:
    """The last step, all writes, and the reads whose ids or cursors these use."""
    kept, used = [], {ref.operation for operation in steps[-1].operations for ref in operation.refs()}
    for step in reversed(steps[:-1]):
        numbers = {operation.number for operation in step.operations}
        if changes(step) or numbers & used:
            kept.append(step)
            used |= {ref.operation for operation in step.operations for ref in operation.refs()}
    return [*reversed(kept), steps[-1]]


def writes(steps: list[Step]) -> list[Step]:
    return [step for step in steps[:-1] if changes(step)]


def changes(step: Step) -> bool:
    """Whether later answers may depend on a step: a write, or an event without operations, such as a restart."""
    is_write = not step.operations or any(operation.mutations for operation in step.operations)
    return is_write or step.kind in (StepKind.ARTICLES_LEAVE, StepKind.PURGE)


def without(step: Step, operation: Operation) -> Step:
    """
    A step without one of its operations. It becomes an ordinary one if the operation is what its kind is about: the
    write that overtakes reads, or the mutation that moderates a user in steps.
    """
    kept = tuple(each for each in step.operations if each is not operation)
    kind = step.kind
    if (kind is StepKind.READS_OVERTAKEN and (operation.mutations or len(kept) < 2)) or (
        kind is StepKind.MODERATED_IN_STEPS and operation.mutations
    ):
        kind = StepKind.TOGETHER
    return replace(step, kind=kind, operations=kept)


def script(steps: Sequence[Step], began: int) -> str:
    """A history as readable text; `began` is its first instant, in unix milliseconds."""
    lines = []
    for step in steps:
        lines.append(f"+{(step.at - began) / 1000:.3f}s {step.kind}")
        for each in step.operations:
            lines.append(f"    #{each.number} as {_written(each.token)}: {each.text}")
            lines.append(f"        {_written(each.variables)}")
    return "\n".join(lines)


def _written(value: object) -> str:
    """A value with short references, such as #12('m0', 'token'), and without long runs of one character."""
    text = re.sub(r"Ref\(operation=(\d+), path=(\([^)]*\))\)", r"#\1\2", repr(value))
    return re.sub(r"(.)\1{50,}", lambda found: f"{found[1]}...{len(found[0])} times...", text)
