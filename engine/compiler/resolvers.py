"""
How a schema tells the compiler what kind of resolver a field has: an entry `RESOLVER` in the field's metadata.

    field = strawberry.field(resolver=of_one_parent, metadata={RESOLVER: BatchResolver(of_all_parents)})

The Strawberry resolver still defines the field. It is called where an operation is not compiled, and has to give the
same values.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from strawberry.types.field import StrawberryField

RESOLVER = "resolver"  # the key in `StrawberryField.metadata`


@dataclass(frozen=True, slots=True)
class BatchResolver:
    """
    Resolves a field for all objects of a level in one call: `function(parents, context, **arguments)`.

    It returns a list, or an awaitable of one, with a value for each parent; an exception in place of a value is the
    error of that parent alone. With `is_pure`, the value of a record is always the same, for every client: it may be
    cached together with the record.
    """

    function: Callable[..., Any]
    is_pure: bool = False


@dataclass(frozen=True, slots=True)
class RootResolver:
    """Resolves a field of the query or mutation type: `await function(context, **arguments)`."""

    function: Callable[..., Awaitable[Any]]


DeclaredResolver: TypeAlias = BatchResolver | RootResolver


def declared_resolver(field: StrawberryField) -> DeclaredResolver | None:
    return field.metadata.get(RESOLVER)
