"""How the values of a field of a plan are had, all of a level at once: the ways that compiling knows."""

from collections.abc import Callable
from typing import Any

from server.wire.plans import Column, Pending, Run


def repeated(name: str, parents: Column, run: Run) -> Pending:
    return [name] * len(parents)


def attributes(get: Callable[[Any], Any], parents: Column, run: Run) -> Pending:
    return list(map(get, parents))


def alone(function: Callable[[Column], Column], parents: Column, run: Run) -> Pending:
    return function(parents)


def batch(function: Callable[..., Pending], place: int, parents: Column, run: Run) -> Pending:
    return function(parents, run.context, **run.arguments[place])


async def root(function: Callable[..., Any], place: int, parents: Column, run: Run) -> Column:
    return [await function(run.context, **run.arguments[place])]


async def once(function: Callable[..., Any], place: int, key: str, parents: Column, run: Run) -> Column:
    """As `root`, and what it came to is remembered: it must not run again."""
    return [await run.outcomes.carry_out(key, function(run.context, **run.arguments[place]))]
