"""
Outcomes of a mutation's root fields, so that each is executed once even if its selection is executed again.

If a nested field fails in a compiled plan, graphql-core executes the operation again, with the outcomes of the plan.
After a timeout it does so as well, but executes no further root field: the result has the outcomes so far, and errors.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from inspect import isawaitable
from typing import Any

from graphql import GraphQLError, GraphQLResolveInfo

from engine.errors import Code


@dataclass(frozen=True, slots=True)
class Outcome:
    """The value of a field, or its exception."""

    value: Any = None
    error: Exception | None = None

    def get(self) -> Any:
        if self.error:
            raise self.error
        return self.value


class Outcomes:
    """The outcomes of one execution by response key. If `late` is set, it is the message of all further fields."""

    __slots__ = ("_known", "late")

    def __init__(self) -> None:
        self._known: dict[str | int, Outcome] = {}
        self.late: str | None = None

    def __bool__(self) -> bool:
        """Whether any root field was executed."""
        return bool(self._known)

    def value(self, key: str | int, resolve: Callable[[], Any]) -> Any:
        """Return the outcome of a root field; resolve it unless that was done before."""
        known = self._known.get(key)
        if known:
            return known.get()
        self.check_late()
        try:
            value = resolve()
        except Exception as error:
            self._known[key] = Outcome(error=error)
            raise
        if isawaitable(value):
            return self.carry_out(key, value)
        self._known[key] = Outcome(value)
        return value

    async def carry_out(self, key: str | int, pending: Awaitable[Any]) -> Any:
        try:
            self._known[key] = Outcome(await pending)
        except Exception as error:
            self._known[key] = Outcome(error=error)
        return self._known[key].get()

    def check_late(self) -> None:
        """
        Raises:
            GraphQLError: the time limit of the execution is over.
        """
        if self.late:
            raise GraphQLError(self.late, extensions={"code": str(Code.TIMED_OUT)})


class CarriedOut:
    """Middleware of graphql-core that resolves each root field once."""

    def __init__(self, outcomes: Outcomes) -> None:
        self._outcomes = outcomes

    def resolve(self, following: Callable[..., Any], source: Any, info: GraphQLResolveInfo[Any], **given: Any) -> Any:
        if info.path.prev:
            return following(source, info, **given)
        return self._outcomes.value(info.path.key, partial(following, source, info, **given))
