"""
Executes valid operations: by their plans, or else by graphql-core, as Strawberry's `Schema.execute` calls it. A plan is
what an operation is compiled to: see `engine.compiler.plan`. Plans give results without errors only: if anything fails,
graphql-core executes the operation again, and describes the errors.
"""

from collections.abc import AsyncIterable, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import strawberry
from graphql import (
    DirectiveNode,
    ExecutionResult,
    GraphQLResolveInfo,
    OperationType,
    VariableNode,
    Visitor,
    create_source_event_stream,
    visit,
)

from engine.bridge import Executor, VariableValues, core_schema, has_own_executor
from engine.compiler.arguments import VariableCoercion
from engine.compiler.compile import compile_operation
from engine.compiler.completion import TemplateCache
from engine.compiler.plan import Budget, NotCompilable, Outcomes, Plan, dispose
from engine.documents import MAX_ERRORS, Operation
from engine.errors import AnswerTooLarge, Code, Refused
from engine.interfaces import OperationContext
from engine.limits.documents import MAX_ANSWER

Variables: TypeAlias = dict[str, Any]

COMPILE_AT = 2  # an operation is compiled at its second execution: for a document that is sent once it costs too much
MAX_FAILURES = 10  # of an operation's plans; with more, they are used only while at most half of its executions fail
MAX_PLANS = 16  # of one operation
ENTRY_SIZE = 3_000  # bytes of a `PlanCache` without plans
VARIABLE_SIZE = 3_000  # bytes of each variable
FIELD_SIZE = 2_000  # bytes of each field of a plan
ARGUMENTS_SIZE = 2_500  # bytes of the arguments of a field


@dataclass(frozen=True, slots=True)
class EventSource:
    """The events of a subscription, and the executor that makes a result of each."""

    events: AsyncIterable[Any]
    executor: Executor


class PlanResult(NamedTuple):
    """The result of a plan, which never has errors. `data` is the JSON of the result as dicts and lists."""

    data: dict[str, Any]
    errors: None = None


Result: TypeAlias = ExecutionResult | PlanResult


class Executed(NamedTuple):
    """`execution_path` is "compiled", or the reason why it was not."""

    result: Result
    execution_path: str


def ignore_growth(operation: Operation, more: int) -> None:
    """Takes the place of `Execution`'s `grew` where operations are not cached."""


class NotUsed(NotCompilable):
    """The plan of an operation, if there is one, is not used for this execution."""


class Execution:
    """
    Executes the operations of a schema. `grew` is called with an operation and the bytes by which what is cached for it
    has grown. A result has at most `max_answer` bytes. With `hide_suggestions` errors of variables propose no names.
    """

    def __init__(
        self,
        schema: strawberry.Schema,
        templates: TemplateCache | None = None,
        grew: Callable[[Operation, int], None] = ignore_growth,
        max_answer: int = MAX_ANSWER,
        hide_suggestions: bool = False,
    ) -> None:
        if schema.extensions or schema.directives or schema.config.enable_experimental_incremental_execution:
            raise ValueError("schema extensions, operation directives and incremental delivery are not served")
        if has_own_executor(schema):
            raise ValueError("a schema with an executor of its own is not served")
        self._strawberry = schema
        self._max_answer = max_answer
        self._schema = core_schema(schema)
        self._templates = TemplateCache() if templates is None else templates
        self._grew = grew
        self._plans: WeakKeyDictionary[Operation, PlanCache] = WeakKeyDictionary()  # a PlanCache refers to no operation
        self._hide_suggestions = schema.config.disable_field_suggestions or hide_suggestions

    async def execute(
        self, operation: Operation, variables: Variables, context: OperationContext, outcomes: Outcomes | None = None
    ) -> Executed:
        """
        Execute a query or a mutation.

        An operation whose plan fails is executed again by graphql-core. That does not repeat root fields of a
        mutation: it takes their results from `outcomes`, which the caller can read even if this is cancelled.

        Raises:
            AnswerTooLarge: the result exceeds the limit.
        """
        plans = self._plans.get(operation)
        if plans is None:
            plans = self._plans[operation] = self._new_plan_cache(operation)
        outcomes = Outcomes() if outcomes is None else outcomes
        try:
            data = await plans.data(operation, variables, context, Budget(self._max_answer), outcomes)
        except AnswerTooLarge:
            raise
        except NotCompilable as not_compilable:
            plans.note_failure(not_compilable)
            reason = str(not_compilable)
        except Exception as error:
            plans.note_failure(error)
            reason = "error"
        else:
            return Executed(PlanResult(data), "compiled")
        return Executed(await self.execute_by_graphql_core(operation, variables, context, outcomes), reason)

    async def execute_by_graphql_core(
        self, operation: Operation, variables: Variables, context: OperationContext, outcomes: Outcomes
    ) -> ExecutionResult:
        """
        Execute by graphql-core. Root fields of a mutation that a plan has executed before, so that they have an
        outcome, are not executed again.
        """
        executor = self._executor(operation, variables, context, outcomes)
        return self._within_limit(await executor.execute())

    def _new_plan_cache(self, operation: Operation) -> "PlanCache":
        return PlanCache(self._strawberry, operation, self._templates, self._grew)

    async def subscribe(
        self, operation: Operation, variables: Variables, context: OperationContext
    ) -> EventSource | ExecutionResult:
        """Open the source of a subscription's events. If that fails, return a result with the errors."""
        executor = self._executor(operation, variables, context)
        created = create_source_event_stream(executor)
        events = await created if isinstance(created, Awaitable) else created
        return events if isinstance(events, ExecutionResult) else EventSource(events, executor)

    async def execute_event(self, source: EventSource, event: Any, context: OperationContext) -> ExecutionResult:
        """Execute one event with its own context: data loaded for an older event may be out of date."""
        executor = source.executor.build_per_event_executor(event)
        executor.context_value = context
        return self._within_limit(await executor.execute(serially=False))

    def _within_limit(self, result: ExecutionResult) -> ExecutionResult:
        """The result. Raises AnswerTooLarge if it exceeds the limit."""
        Budget(self._max_answer).add_data(result.data)
        return result

    def _executor(
        self, operation: Operation, variables: Variables, context: OperationContext, outcomes: Outcomes | None = None
    ) -> Executor:
        is_mutation = operation.kind is OperationType.MUTATION
        executor: Any = Executor.build(
            self._schema,
            operation.document,
            context_value=context,
            raw_variable_values=variables,
            operation_name=operation.name,
            max_coercion_errors=MAX_ERRORS,
            middleware=[ResolveRootOnce(outcomes)] if outcomes is not None and is_mutation else None,
            before_await=outcomes.check_timeout if outcomes is not None else None,
            dispose=dispose,
            hide_suggestions=self._hide_suggestions,
            operation_extensions=None,
        )
        if isinstance(executor, list):
            raise Refused(Code.BAD_USER_INPUT, *executor)
        assert isinstance(executor, Executor)
        return executor


class PlanCache:
    """
    The plans of one operation: one for each combination of the variables in its `@include` and `@skip` directives.

    `grew` is called with the operation and the bytes of each plan. Beyond `MAX_PLANS` the oldest plan is dropped.
    """

    def __init__(
        self,
        schema: strawberry.Schema,
        operation: Operation,
        templates: TemplateCache,
        grew: Callable[[Operation, int], None],
    ) -> None:
        self._schema = schema
        self._templates = templates
        self._grew = grew
        self._executions = 0
        self._failures = 0
        definitions = operation.node.variable_definitions or ()
        self._variables = VariableCoercion(core_schema(schema), definitions)
        self._deciding = deciding_variables(operation)
        # by the values of `_deciding`: a plan, or the reason why there is none
        self._by_case: dict[tuple[Any, ...], Plan | str] = {}
        grew(operation, ENTRY_SIZE + VARIABLE_SIZE * len(definitions))

    def data(
        self, operation: Operation, variables: dict[str, Any], context: Any, budget: Budget, outcomes: Outcomes
    ) -> Awaitable[dict[str, Any]]:
        """
        Execute a plan: the data of a result without errors. The caller gives `note_failure` the exceptions.

        Raises:
            NotUsed: the operation is new, or has failed too often.
            NotCompilable: it cannot be compiled.
            AnswerTooLarge: the result exceeds the budget.
        """
        self._executions += 1
        if self._executions < COMPILE_AT:
            raise NotUsed("new")
        if self._failures > MAX_FAILURES and 2 * self._failures > self._executions:
            raise NotUsed("not worth it")
        values = self._variables.coerced(variables)
        return self._plan(operation, values).data(context, values, budget, outcomes)

    def note_failure(self, error: Exception) -> None:
        """Count a failed execution of a plan."""
        self._failures += not isinstance(error, NotUsed)

    def _plan(self, operation: Operation, variables: VariableValues) -> Plan:
        """The plan for the variables of an execution, compiled if there is none."""
        case = tuple(map(variables.coerced.get, self._deciding))
        plan = self._by_case.get(case)
        if plan is None:
            plan = self._by_case[case] = self._new_plan(operation, variables)
        if isinstance(plan, str):
            raise NotCompilable(plan)
        return plan

    def _new_plan(self, operation: Operation, variables: VariableValues) -> Plan | str:
        """A plan, or the reason why the operation has none."""
        if len(self._by_case) >= MAX_PLANS:
            self._grew(operation, -size_of(self._by_case.pop(next(iter(self._by_case)))))
        try:
            plan: Plan | str = compile_operation(self._schema, operation, variables, self._templates)
        except NotCompilable as reason:
            plan = str(reason)
        self._grew(operation, size_of(plan))
        return plan


def size_of(plan: Plan | str) -> int:
    """The bytes of a plan."""
    if isinstance(plan, str):
        return FIELD_SIZE
    return FIELD_SIZE * (1 + plan.fields) + ARGUMENTS_SIZE * len(plan.constants)


def deciding_variables(operation: Operation) -> list[str]:
    """The variables in the `@include` and `@skip` directives of the document."""
    finder = DecidingVariables()
    visit(operation.document, finder)
    return sorted(finder.names)


class DecidingVariables(Visitor):
    """Collects the variables in `@include` and `@skip` directives."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def enter_directive(self, node: DirectiveNode, *_: Any) -> None:
        for argument in node.arguments or ():
            if isinstance(argument.value, VariableNode):
                self.names.add(argument.value.name.value)


class ResolveRootOnce:
    """Middleware of graphql-core that resolves each root field once."""

    def __init__(self, outcomes: Outcomes) -> None:
        self._outcomes = outcomes

    def resolve(self, following: Callable[..., Any], source: Any, info: GraphQLResolveInfo[Any], **given: Any) -> Any:
        if info.path.prev:
            return following(source, info, **given)
        return self._outcomes.value(info.path.key, partial(following, source, info, **given))
