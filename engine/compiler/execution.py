"""Executes valid operations with graphql-core, in the way that Strawberry's own `Schema.execute` calls it."""

from collections.abc import AsyncIterable, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import strawberry
from graphql import ExecutionResult, OperationType, create_source_event_stream
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext

from engine.clients import Context
from engine.compiler.executor import ShortExecutor
from engine.compiler.json_templates import Memory
from engine.compiler.plan import Bail
from engine.compiler.plan_cache import Plans
from engine.compiler.shortcuts import Shortcuts
from engine.documents.operations import MAX_ERRORS, Operation
from engine.errors import Code, Refused
from engine.limits.answer_size import MAX_ANSWER, AnswerTooLarge, Budget
from engine.outcomes import CarriedOut, Outcomes

Variables: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Source:
    """The events of a subscription, and what turns each of them into a result."""

    events: AsyncIterable[Any]
    executor: ShortExecutor


class Data(NamedTuple):
    """The result of a plan, which has no errors."""

    data: Variables
    errors: None = None


Result: TypeAlias = ExecutionResult | Data


class Executed(NamedTuple):
    """`way` is "compiled", or why it was not."""

    result: Result
    way: str


def ignore_growth(operation: Operation, more: int) -> None:
    """Where operations are not cached."""


class Execution:
    """The one place where operations are executed: by their plans where they have one, else by graphql-core."""

    def __init__(
        self,
        schema: strawberry.Schema,
        memory: Memory | None = None,
        grew: Callable[[Operation, int], None] = ignore_growth,
        max_answer: int = MAX_ANSWER,
    ) -> None:
        if schema.extensions or schema.directives or schema.config.enable_experimental_incremental_execution:
            raise ValueError("schema extensions, operation directives and incremental delivery are not served")
        if schema.execution_context_class is not StrawberryGraphQLCoreExecutionContext:
            raise ValueError("a schema with an executor of its own is not served")
        self._strawberry = schema
        self._max_answer = max_answer
        self._schema = schema._schema
        self._memory = Memory() if memory is None else memory
        self._grew = grew
        self._plans: WeakKeyDictionary[Operation, Plans] = WeakKeyDictionary()  # they hold no reference to it
        self._shortcuts = Shortcuts(schema)
        self._hide_suggestions = schema.config.disable_field_suggestions

    async def execute(
        self, operation: Operation, variables: Variables, context: Context, outcomes: Outcomes | None = None
    ) -> Executed:
        """
        Queries that fail by their plan are executed anew: they have no side effects. Mutations go on from theirs.

        If this is cancelled, `outcomes` are what a mutation has come to by then.

        Raises:
            AnswerTooLarge: the answer would be larger than it may be.
        """
        plans = self._plans.get(operation)
        if plans is None:
            plans = self._plans[operation] = self._new_plans(operation)
        outcomes = Outcomes() if outcomes is None else outcomes
        try:
            data = await plans.data(operation, variables, context, Budget(self._max_answer), outcomes)
        except Bail as bail:
            way = str(bail)
        except AnswerTooLarge:
            raise
        except Exception:
            way = "error"
        else:
            return Executed(Data(data), "compiled")
        return Executed(await self.go_on(operation, variables, context, outcomes), way)

    async def go_on(
        self, operation: Operation, variables: Variables, context: Context, outcomes: Outcomes
    ) -> ExecutionResult:
        """Execute by graphql-core what has not come to its outcomes yet, and what is asked of them."""
        executor = self._executor(operation, variables, context, outcomes)
        return self._measured(await executor.execute())

    def _new_plans(self, operation: Operation) -> Plans:
        return Plans(self._strawberry, operation, self._memory, self._grew)

    async def subscribe(self, operation: Operation, variables: Variables, context: Context) -> Source | ExecutionResult:
        """Open the source of a subscription's events; a result in its place says why there is none."""
        executor = self._executor(operation, variables, context)
        created = create_source_event_stream(executor)
        events = await created if isinstance(created, Awaitable) else created
        return events if isinstance(events, ExecutionResult) else Source(events, executor)

    async def execute_event(self, source: Source, event: Any, context: Context) -> ExecutionResult:
        """Execute one event with a context of its own: what an older event has loaded may be out of date."""
        executor = source.executor.build_per_event_executor(event)
        executor.context_value = context
        return self._measured(await executor.execute(serially=False))

    def _measured(self, result: ExecutionResult) -> ExecutionResult:
        """What graphql-core gives, once it is known to be no larger than it may be."""
        Budget(self._max_answer).add_data(result.data)
        return result

    def _executor(
        self, operation: Operation, variables: Variables, context: Context, outcomes: Outcomes | None = None
    ) -> ShortExecutor:
        is_mutation = operation.kind is OperationType.MUTATION
        executor: Any = ShortExecutor.build(
            self._schema,
            operation.document,
            context_value=context,
            raw_variable_values=variables,
            operation_name=operation.name,
            max_coercion_errors=MAX_ERRORS,
            middleware=[CarriedOut(outcomes)] if outcomes is not None and is_mutation else self._shortcuts,
            shortcuts=self._shortcuts,
            outcomes=outcomes,
            hide_suggestions=self._hide_suggestions,
            operation_extensions=None,
        )
        if isinstance(executor, list):
            raise Refused(Code.BAD_USER_INPUT, *executor)
        assert isinstance(executor, ShortExecutor)
        return executor
