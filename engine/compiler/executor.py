"""
graphql-core's executor, for what no plan does, by shorter ways. The answers stay its own, to the byte.

A field is taken at once if its value is there at once, and so is everything below it. Whatever is unusual about any of
them is left to graphql-core, with all fields of the object: it knows what is an error, where, and what becomes null.

Where something fails, graphql-core cancels what stands beside it, begun or not: `execute` disposes of what is left.
"""

from asyncio import gather
from collections.abc import Awaitable, Callable
from enum import Enum
from functools import partial
from typing import Any, NamedTuple

from graphql import (
    ExecutionResult,
    GraphQLError,
    GraphQLObjectType,
    GraphQLOutputType,
    is_leaf_type,
    is_list_type,
    is_non_null_type,
    is_object_type,
)
from graphql.execution.collect_fields import FieldDetails
from graphql.pyutils import AwaitableOrValue, Path
from strawberry.execution import optimized_is_awaitable
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext

from engine.compiler.disposal import dispose
from engine.compiler.shortcuts import Of, Shortcuts
from engine.outcomes import Outcomes

PLAIN = frozenset({str, int, float, bool})

Grouped = dict[str, list[FieldDetails]]
Row = dict[str, Any]


class Unusual(Exception):
    """Graphql-core knows what to do."""


class Part(NamedTuple):
    """The fields that are asked of the objects of one type: those that are taken at once, and all others."""

    whole: Grouped  # as long as it is kept, no other can have its identity
    at_once: list[tuple[str, Of]]
    others: Grouped

    def row(self, source: Any) -> Row:
        row: Row = dict.fromkeys(self.whole)
        for key, of in self.at_once:
            row[key] = of(source)
        return row


class ShortExecutor(StrawberryGraphQLCoreExecutionContext):
    def __init__(self, *given: Any, shortcuts: Shortcuts, outcomes: Outcomes | None, **options: Any) -> None:
        super().__init__(*given, **options)
        self._shortcuts = shortcuts
        self._outcomes = outcomes
        self._parts: dict[int, Part] = {}
        self._expect_nothing()

    async def execute(self, *, serially: bool | None = None) -> ExecutionResult:
        """Execute the operation; when this ends, however it ends, nothing goes on that was begun for it."""
        try:
            result: Any = self.execute_operation(serially)
            return result if isinstance(result, ExecutionResult) else await result
        finally:
            self._dispose()

    def build_per_event_executor(self, payload: Any) -> "ShortExecutor":
        executor: ShortExecutor = super().build_per_event_executor(payload)  # type: ignore[assignment]  # a copy of this
        executor._expect_nothing()
        return executor

    async def with_abort_signal(self, awaitable: Awaitable[Any]) -> Any:
        """What graphql-core asks for every value that a resolver gives later: there is no signal but to be late."""
        if self._outcomes is not None:
            self._outcomes.check_late()
        return await awaitable

    def complete_list_item_value(self, item: Any, results: list[Any], *rest: Any) -> bool:
        is_expected = super().complete_list_item_value(item, results, *rest)
        if is_expected:
            self._expected.append(results[-1])
        return is_expected

    def complete_awaitable_list_item_value(self, *given: Any) -> Awaitable[Any]:  # type: ignore[override]  # it is awaited
        value = super().complete_awaitable_list_item_value(*given)
        self._expected.append(value)
        return value

    def execute_fields(
        self, parent_type: GraphQLObjectType, source: Any, path: Path | None, grouped: Grouped, position: Any
    ) -> AwaitableOrValue[Row]:
        part = self._parts.get(id(grouped)) or self._part(parent_type, grouped)
        if not part.at_once:
            return super().execute_fields(parent_type, source, path, grouped, position)
        try:
            row = part.row(source)
        except Exception:
            return super().execute_fields(parent_type, source, path, grouped, position)
        if not part.others:
            return row
        others = super().execute_fields(parent_type, source, path, part.others, position)
        return row | others if isinstance(others, dict) else united(row, others)

    def _expect_nothing(self) -> None:
        self._expected: list[Any] = []  # all that graphql-core is going to wait for
        self.background_futures = set()
        self.is_awaitable = self._is_expected  # type: ignore[assignment]  # says bool where TypeGuard is asked for

    def _is_expected(self, value: Any) -> bool:
        """As `is_awaitable`, which graphql-core asks of everything before it waits for it."""
        if not optimized_is_awaitable(value):
            return False
        self._expected.append(value)
        return True

    def _dispose(self) -> None:
        """What graphql-core has left to run behind an error is ended first, for that may still begin the rest."""
        left = list(self.background_futures)
        if not left:
            dispose(self._expected)
            return
        for future in left:
            future.cancel()
        gather(*left, return_exceptions=True).add_done_callback(lambda _: dispose(self._expected))

    def _part(self, parent: GraphQLObjectType, grouped: Grouped) -> Part:
        found = {key: self._at_once(parent, details) for key, details in grouped.items()}
        at_once = [(key, of) for key, of in found.items() if of]
        part = Part(grouped, at_once, {key: grouped[key] for key, of in found.items() if not of})
        self._parts[id(grouped)] = part
        return part

    def _at_once(self, parent: GraphQLObjectType, details: list[FieldDetails]) -> Of | None:
        name = details[0].node.name.value
        value, field = self._shortcuts.values.get((parent.name, name)), self.schema.get_field(parent, name)
        if value is None or field is None:
            return None
        complete = self._completion(field.type, details)
        return complete and partial(completed, value, complete)

    def _completion(self, type_: GraphQLOutputType, details: list[FieldDetails]) -> Of | None:
        if is_non_null_type(type_):
            complete = self._completion(type_.of_type, details)
            return complete and partial(required, complete)
        if is_list_type(type_):
            complete = self._completion(type_.of_type, details)
            return complete and partial(each, complete)
        if is_leaf_type(type_):
            return partial(written, type_.coerce_output_value)
        return self._rows(type_, details) if is_object_type(type_) else None

    def _rows(self, type_: GraphQLObjectType, details: list[FieldDetails]) -> Of | None:
        try:
            part = self._part(type_, self.collect_subfields(type_, details).grouped_field_set)
        except GraphQLError:
            return None  # an `@include` or `@skip` without an answer
        return None if part.others else partial(row_of, part, type_.is_type_of)


def completed(value: Of, complete: Of, source: Any) -> Any:
    return complete(value(source))


def required(complete: Of, value: Any) -> Any:
    if value is None:
        raise Unusual
    return complete(value)


def each(complete: Of, value: Any) -> Any:
    if value is None:
        return None
    if not isinstance(value, list | tuple):
        raise Unusual
    return [complete(item) for item in value]


def written(write: Of, value: Any) -> Any:
    if value is None:
        return None
    if not (type(value) in PLAIN or isinstance(value, Enum)) or (text := write(value)) is None:
        raise Unusual
    return text


def row_of(part: Part, is_type_of: Callable[[Any, Any], Any] | None, value: Any) -> Row | None:
    if value is None:
        return None
    if isinstance(value, Exception) or optimized_is_awaitable(value):
        raise Unusual
    if is_type_of and is_type_of(value, None) is not True:
        raise Unusual
    return part.row(value)


async def united(row: Row, others: Awaitable[Row]) -> Row:
    return row | await others
