"""
What the root fields of a mutation came to, remembered: each is carried out once, whatever becomes of the answer.

Where something fails below, graphql-core goes on from here. Where something below takes too long, it goes on as well,
but waits for nothing any more: what is there is answered, and every other field is an error.
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
    """A value, or what was raised."""

    value: Any = None
    error: Exception | None = None

    def get(self) -> Any:
        if self.error:
            raise self.error
        return self.value


class Outcomes:
    """The outcomes of one execution, by response keys. With a reason to be `late` nothing is begun any more."""

    __slots__ = ("_known", "late")

    def __init__(self) -> None:
        self._known: dict[str | int, Outcome] = {}
        self.late: str | None = None

    def __bool__(self) -> bool:
        """Whether anything was carried out."""
        return bool(self._known)

    def value(self, key: str | int, resolve: Callable[[], Any]) -> Any:
        """What a root field came to; it is carried out if it was not yet."""
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
            GraphQLError: it is too late to begin anything, or to wait for it.
        """
        if self.late:
            raise GraphQLError(self.late, extensions={"code": str(Code.TIMED_OUT)})


class CarriedOut:
    """Middleware of graphql-core: root fields are resolved by their outcomes."""

    def __init__(self, outcomes: Outcomes) -> None:
        self._outcomes = outcomes

    def resolve(self, following: Callable[..., Any], source: Any, info: GraphQLResolveInfo[Any], **given: Any) -> Any:
        if info.path.prev:
            return following(source, info, **given)
        return self._outcomes.value(info.path.key, partial(following, source, info, **given))
