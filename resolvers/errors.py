"""Errors of queries and subscriptions. Refusals of mutations are in `store.errors`."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

P = TypeVar("P")
T = TypeVar("T")


class BadInput(Exception):
    """A malformed id, a cursor of another listing, a page size out of bounds: the message says what and where."""


class SubscriberTooSlow(Exception):
    """More articles wait to be sent than a subscriber may have pending."""

    def __init__(self, most: int) -> None:
        super().__init__(f"more than {most} articles wait to be sent: subscribe again")


class TooManyRankings(Exception):
    """The rankings that an address subscribes to have too many places. Each of them is read again when it changes."""

    def __init__(self, most: int) -> None:
        super().__init__(f"the rankings of this address would have more than {most} places")


def for_each(parents: Sequence[P], value: Callable[[P], T]) -> list[T | BadInput]:
    """The value of each parent, or its BadInput: the error of one parent does not affect the others."""
    with suppress(BadInput):  # the usual case is fast
        return [value(parent) for parent in parents]
    return [_value_or_error(value, parent) for parent in parents]


def _value_or_error(value: Callable[[P], T], parent: P) -> T | BadInput:
    try:
        return value(parent)
    except BadInput as error:
        return error
