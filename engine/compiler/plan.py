"""
Plans of compiled operations. A plan is executed level by level: a field is resolved for all objects of a level at once,
and its values, a column, are completed together. A level is all the objects that are at one place of an operation, such
as all objects of a list; they are the parents of the fields below.

A JSON template is the JSON of a record with placeholders for values that must not be cached with it: see
`engine.compiler.completion`.
"""

from asyncio import CancelledError, Future, ensure_future, gather
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import CORO_CREATED, getcoroutinestate, isawaitable
from itertools import repeat
from types import CoroutineType
from typing import Any, Protocol

import orjson
from graphql import GraphQLError

from engine.bridge import VariableValues
from engine.errors import AnswerTooLarge, Code
from engine.limits.documents import MAX_ANSWER

Column = list[Any]  # the values of one field, one for each parent; or rows: the dict of the result for each object
Pending = Column | Awaitable[Column]
Arguments = Mapping[str, Any]  # by Python name
Placeholders = dict[int, Column]  # for each field number, the parents whose values fill the field's placeholders
MARK = b"\0"  # on both sides of a field number, which is a placeholder then; JSON never has this byte
PUNCTUATION = 3  # bytes around a value: quotes and a comma
MIN_CHARACTERS = 4_096  # of a column of texts; only beyond that are its UTF-8 bytes counted


class NotCompilable(Exception):
    """
    This execution is left to graphql-core. The message is from a fixed set, as it becomes the label of a metric,
    such as "length": a batch resolver returned too few or too many values.
    """


class FieldArguments(Protocol):
    """The arguments of a field, as a function of the operation's variables."""

    @property
    def is_constant(self) -> bool:
        """Whether they are the same for all variables."""

    def values(self, variables: VariableValues) -> Arguments: ...


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
    """
    The outcomes of a mutation's root fields by response key, so that each field is executed once.

    If a nested field fails in a plan, graphql-core executes the operation again, with the outcomes of the plan. After a
    timeout it does so as well, but executes no further field: `timeout` is then the message of their errors.
    """

    __slots__ = ("_known", "timeout")

    def __init__(self) -> None:
        self._known: dict[str | int, Outcome] = {}
        self.timeout: str | None = None

    def __bool__(self) -> bool:
        """Whether any root field was executed."""
        return bool(self._known)

    def value(self, key: str | int, resolve: Callable[[], Any]) -> Any:
        """Return the outcome of a root field; resolve it unless that was done before."""
        known = self._known.get(key)
        if known:
            return known.get()
        self.check_timeout()
        try:
            value = resolve()
        except Exception as error:
            self._known[key] = Outcome(error=error)
            raise
        if isawaitable(value):
            return self.record(key, value)
        self._known[key] = Outcome(value)
        return value

    async def record(self, key: str | int, pending: Awaitable[Any]) -> Any:
        """Await the value of a root field, and record its outcome."""
        try:
            value = await pending
        except Exception as error:
            self._known[key] = Outcome(error=error)
            raise
        self._known[key] = Outcome(value)
        return value

    def check_timeout(self) -> None:
        """
        Raises:
            GraphQLError: the time limit of the operation is exceeded.
        """
        if self.timeout:
            raise GraphQLError(self.timeout, extensions={"code": str(Code.TIMED_OUT)})


class Budget:
    """Counts the bytes of one result, at most `limit`."""

    __slots__ = ("limit", "size")

    def __init__(self, limit: int = MAX_ANSWER) -> None:
        self.limit = limit
        self.size = 0

    def add(self, size: int) -> None:
        """
        Raises:
            AnswerTooLarge: the size exceeds the limit.
        """
        self.size += size
        if self.size > self.limit:
            raise AnswerTooLarge(self.limit)

    def add_texts(self, values: Sequence[str]) -> None:
        """Count texts in UTF-8, without JSON's escapes."""
        characters = sum(map(len, values))
        self.add(characters + PUNCTUATION * len(values))
        if characters > MIN_CHARACTERS and not all(map(str.isascii, values)):
            self.add(sum([len(value.encode(errors="surrogatepass")) for value in values]) - characters)

    def add_data(self, data: Any) -> None:
        """Count the data of a result, as dicts and lists."""
        waiting = [data]
        while waiting:
            value = waiting.pop()
            kind = type(value)
            if kind is str:
                self.add(len(value) + PUNCTUATION if value.isascii() else len(value.encode(errors="surrogatepass")))
            elif kind is dict:
                self.add(sum(map(len, value)) + PUNCTUATION * len(value))
                waiting.extend(value.values())
            elif kind is list:
                waiting.extend(value)


@dataclass(frozen=True, slots=True)
class Plan:
    """
    A compiled operation.

    `constants` has the arguments of each field, by the field's place in `Run.arguments`. Arguments that depend on
    variables are in `computed` instead, with their place: they are computed for each execution. `level` is the level of
    the root fields, `fields` the number of all fields.
    """

    level: "Rows"
    constants: Sequence[Arguments]
    computed: Sequence[tuple[int, FieldArguments]]
    fields: int

    async def data(self, context: Any, variables: VariableValues, budget: Budget, outcomes: Outcomes) -> dict[str, Any]:
        """
        Execute the plan and return the data of a result without errors.

        Raises:
            NotCompilable, or any exception of a resolver or scalar: graphql-core has to execute the operation.
            AnswerTooLarge: the result exceeds the budget.
        """
        arguments = [*self.constants]
        for place, each in self.computed:
            arguments[place] = each.values(variables)
        run = Run(context, arguments, outcomes, budget=budget, variables=variables.coerced)
        try:
            rows = self.level.rows([None], run)
            (row,) = rows if isinstance(rows, list) else await rows
        except BaseException:
            dispose(run.awaitables)
            raise
        data: dict[str, Any] = row
        return data


@dataclass(slots=True)
class Run:
    """
    One execution of a plan: its context, and the coerced arguments of each field.

    `outcomes` records the results of a mutation's root fields, and `budget` counts the bytes of the result. With
    `placeholders` only pure fields are resolved, to make a JSON template; other fields add their parents there.
    `awaitables` are all of the run: after a failure those that are not done are closed or cancelled.
    """

    context: Any
    arguments: Sequence[Mapping[str, Any]]
    outcomes: Outcomes = field(default_factory=Outcomes)
    placeholders: Placeholders | None = None
    budget: Budget = field(default_factory=Budget)
    variables: dict[str, Any] = field(default_factory=dict)
    awaitables: list[Any] = field(default_factory=list)

    def note(self, column: Awaitable[Column]) -> Awaitable[Column]:
        """Note an awaitable that is awaited later, so that it can be closed if that does not happen."""
        self.awaitables.append(column)
        return column


class Rows(Protocol):
    """Makes the rows of a level: the dict of the result for each of its objects, which have one type. See `Level`."""

    def rows(self, parents: Column, run: Run) -> Pending: ...


class Completion(Protocol):
    """Turns a column of resolved values into a column of the result (CompleteValue in the GraphQL specification)."""

    def __call__(self, values: Column, run: Run) -> Pending: ...


@dataclass(frozen=True, slots=True)
class Field:
    """`resolve` returns the values of a level's parents, or an awaitable of them. `is_pure`: as in `BatchResolver`."""

    number: int  # the field's number in its plan
    key: str  # in the result: its alias or name
    resolve: Callable[..., Any]
    complete: Completion
    is_pure: bool = False

    def column(self, parents: Column, run: Run) -> Pending:
        values = self.resolve(parents, run)
        if isinstance(values, list):
            return self.complete(values, run)
        awaited = self._awaited(values, run)
        run.awaitables += values, awaited
        return awaited

    def column_or_placeholders(self, parents: Column, run: Run) -> Pending:
        if self.is_pure:
            return self.column(parents, run)
        assert run.placeholders is not None, "only called while a template is made"
        run.placeholders.setdefault(self.number, []).extend(parents)
        return [orjson.Fragment(b"%b%d%b" % (MARK, self.number, MARK))] * len(parents)

    async def _awaited(self, values: Awaitable[Sequence[Any]], run: Run) -> Column:
        completed = self.complete(list(await values), run)
        return completed if isinstance(completed, list) else await completed


@dataclass(frozen=True, slots=True)
class AttributeField(Field):
    """A field that is an attribute of its parents: `resolve` takes one parent and returns the value."""

    def column(self, parents: Column, run: Run) -> Pending:
        return self.complete(list(map(self.resolve, parents)), run)


@dataclass(frozen=True, slots=True)
class RootField(Field):
    """A field of the query or mutation type: `resolve` returns an awaitable of its only value."""

    def column(self, parents: Column, run: Run) -> Pending:
        value = self.resolve(parents, run)
        awaited = self._completed(value, run)
        run.awaitables += value, awaited
        return awaited

    async def _completed(self, value: Any, run: Run) -> Column:
        completed = self.complete([await value], run)
        return completed if isinstance(completed, list) else await completed


@dataclass(frozen=True, slots=True)
class Level:
    """
    All fields of the objects of a level. Their awaitables are awaited concurrently. `build` makes the rows of the
    columns of these fields, see `row_builder`.
    """

    fields: tuple[Field, ...]
    build: Callable[[Sequence[Column]], Column]
    row_bytes: int = 0  # of the JSON of an object without its values

    def rows(self, parents: Column, run: Run) -> Pending:
        if run.placeholders is not None:
            return self._built([field.column_or_placeholders(parents, run) for field in self.fields], run)
        columns = [field.column(parents, run) for field in self.fields]
        return self._built(columns, run) if all_ready(columns) else run.note(self._awaited(columns, run))

    async def _awaited(self, columns: list[Any], run: Run) -> Column:
        if len(columns) == 1:
            return self._built([await columns[0]], run)
        places = awaited_places(columns)
        if len(places) == 1:  # the usual case, without another coroutine
            columns[places[0]] = await columns[places[0]]
            return self._built(columns, run)
        return self._built(await gather_columns(columns), run)

    def _built(self, columns: Sequence[Any], run: Run) -> Column:
        run.budget.add(len(columns[0]) * self.row_bytes)
        try:
            return self.build(columns)
        except ValueError:
            raise NotCompilable("length") from None


# The functions `resolve_...` are the `resolve` of fields, with their first arguments bound by `partial`. `place` is the
# index of the field's arguments in `Run.arguments`.
def resolve_typenames(name: str, parents: Column, run: Run) -> Pending:
    return [name] * len(parents)


def resolve_batch(function: Callable[..., Pending], place: int, parents: Column, run: Run) -> Pending:
    return function(parents, run.context, **run.arguments[place])


def resolve_root(function: Callable[..., Any], place: int, parents: Column, run: Run) -> Any:
    return function(run.context, **run.arguments[place])


def resolve_mutation_root(function: Callable[..., Any], place: int, key: str, parents: Column, run: Run) -> Any:
    """As `resolve_root`, and the outcome is recorded: the field must not be executed twice."""
    return run.outcomes.record(key, function(run.context, **run.arguments[place]))


def row_bytes(keys: Sequence[str]) -> int:
    """The bytes of the JSON of an object with these keys, without its values: estimated."""
    return sum(len(key) + 2 * PUNCTUATION for key in keys)


def row_builder(keys: Sequence[str]) -> Callable[[Sequence[Column]], Column]:
    """
    A function that makes rows of columns: one comprehension with a dict display. It raises ValueError if the columns
    have different lengths. For the keys `a` and `b` it is

        lambda columns: [{'a': v0, 'b': v1} for v0, v1, in zip(*columns, strict=True)]

    The keys are GraphQL names (letters, digits and `_`), so they are safe in the source of a function.
    """
    if not keys:
        raise NotCompilable("nothing")
    pairs = ", ".join(f"{key!r}: v{place}" for place, key in enumerate(keys))
    columns = ", ".join(f"v{place}" for place, _ in enumerate(keys))
    built: Callable[[Sequence[Column]], Column] = eval(
        f"lambda columns: [{{{pairs}}} for {columns}, in zip(*columns, strict=True)]"
    )
    return built


def all_ready(columns: Sequence[Any]) -> bool:
    """Whether none of these columns has to be awaited."""
    return all(map(isinstance, columns, repeat(list)))


def awaited_places(columns: Sequence[Any]) -> list[int]:
    """The indexes of the columns that have to be awaited."""
    return [place for place, column in enumerate(columns) if not isinstance(column, list)]


async def gather_columns(columns: Sequence[Any]) -> list[Column]:
    """All columns, of which at least one has to be awaited."""
    places, complete = awaited_places(columns), list(columns)
    for place, column in zip(places, await gather_all([columns[place] for place in places]), strict=True):
        complete[place] = column
    return complete


async def gather_all(awaitables: Sequence[Awaitable[Any]]) -> list[Any]:
    """
    The results of at least one awaitable, all of them awaited concurrently.

    The first is awaited in the current task, so that a single one needs no task. If one fails, the error is raised
    when all are done; cancellation cancels them.
    """
    first, *rest = awaitables
    tasks = [ensure_future(each) for each in rest]
    try:
        return [await first, *[await task for task in tasks]]
    except Exception:
        await gather(*tasks, return_exceptions=True)
        raise
    except CancelledError:
        for task in tasks:
            task.cancel()
        await gather(*tasks, return_exceptions=True)
        raise


def dispose(awaitables: Iterable[Any]) -> None:
    """
    Close or cancel what is no longer awaited: Python would warn of coroutines never awaited and errors never retrieved.

    Closing a coroutine does not close the awaitables that it would have awaited: list them as well.
    """
    for each in awaitables:
        if isinstance(each, CoroutineType):
            if getcoroutinestate(each) == CORO_CREATED:
                each.close()
        elif isinstance(each, Future):
            if not each.done():
                each.cancel()
            elif not each.cancelled():
                each.exception()
