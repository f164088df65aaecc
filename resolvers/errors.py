"""What a query can ask for that cannot be answered, and why a subscription ends."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

P = TypeVar("P")
T = TypeVar("T")


class BadInput(Exception):
    """A malformed id, a cursor of another listing, a page size out of bounds: the message says what and where."""


class SubscriberTooSlow(Exception):
    """More waits to be sent than a subscriber may leave waiting."""

    def __init__(self, most: int) -> None:
        super().__init__(f"more than {most} articles wait to be sent: subscribe anew")


def of_each(parents: Sequence[P], value: Callable[[P], T]) -> list[T | BadInput]:
    """The value of each parent, or the error of a parent that it cannot be given for: the others have theirs."""
    with suppress(BadInput):
        return [value(parent) for parent in parents]
    return [_value_or_error(value, parent) for parent in parents]


def _value_or_error(value: Callable[[P], T], parent: P) -> T | BadInput:
    try:
        return value(parent)
    except BadInput as error:
        return error


class TooManyRankings(Exception):
    """An address watches rankings of too many places: each ranking is read again whenever it moves."""

    def __init__(self, most: int) -> None:
        super().__init__(f"the rankings that this address watches would have more than {most} places")
