"""The plans of an operation: compiled on its second execution, for each case of its variables; given up on errors."""

from collections.abc import Callable
from typing import Any

import strawberry
from graphql import DirectiveNode, VariableNode, Visitor, visit
from graphql.execution.values import VariableValues

from engine.compiler.compile import compile_operation
from engine.compiler.json_templates import TemplateCache
from engine.compiler.plan import NotCompilable, Plan
from engine.compiler.variables import VariableCoercion
from engine.documents import Operation
from engine.limits.answer_size import AnswerTooLarge, Budget
from engine.outcomes import Outcomes

COMPILE_AT = 2  # executions: documents that come once are not worth compiling
FAILURES_ALLOWED = 10
MOST_CASES = 16  # plans kept of one operation
OVERHEAD = 3_000  # bytes of an operation's entry without plans
VARIABLE = 3_000  # bytes of each variable
FIELD = 2_000  # bytes of each field of a plan
ARGUMENTS = 2_500  # bytes of the arguments of a field


class PlanCache:
    """
    The plans of one operation, one for each case of the variables in its `@include` and `@skip` directives.

    `grew` is called with the bytes of each plan. Beyond `MOST_CASES` the oldest plan is dropped.
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
        self._seen = 0
        self._failed = 0
        definitions = operation.node.variable_definitions or ()
        self._variables = VariableCoercion(schema._schema, definitions)
        self._deciding = deciding_variables(operation)
        self._known: dict[tuple[Any, ...], Plan | str] = {}
        grew(operation, OVERHEAD + VARIABLE * len(definitions))

    async def data(
        self, operation: Operation, variables: dict[str, Any], context: Any, budget: Budget, outcomes: Outcomes
    ) -> dict[str, Any]:
        """
        Execute a plan and return the data of an answer without errors.

        Raises:
            NotCompilable: the operation is new, cannot be compiled, or has failed too often.
            AnswerTooLarge: the answer exceeds the budget.
        """
        self._seen += 1
        if self._seen < COMPILE_AT:
            raise NotCompilable("new")
        if self._failed > FAILURES_ALLOWED and 2 * self._failed > self._seen:
            raise NotCompilable("not worth it")
        try:
            values = self._variables.coerced(variables)
            return await self._plan(operation, values).data(context, values, budget, outcomes)
        except AnswerTooLarge:
            raise
        except Exception:
            self._failed += 1
            raise

    def _plan(self, operation: Operation, variables: VariableValues) -> Plan:
        case = tuple(map(variables.coerced.get, self._deciding))
        plan = self._known.get(case)
        if plan is None:
            plan = self._known[case] = self._new_plan(operation, variables)
        if isinstance(plan, str):
            raise NotCompilable(plan)
        return plan

    def _new_plan(self, operation: Operation, variables: VariableValues) -> Plan | str:
        """A plan, or the reason why the operation has none."""
        if len(self._known) >= MOST_CASES:
            self._grew(operation, -size_of(self._known.pop(next(iter(self._known)))))
        try:
            plan: Plan | str = compile_operation(self._schema, operation, variables, self._templates)
        except NotCompilable as reason:
            plan = str(reason)
        self._grew(operation, size_of(plan))
        return plan


def size_of(plan: Plan | str) -> int:
    """The bytes of a plan."""
    return FIELD if isinstance(plan, str) else FIELD * (1 + plan.fields) + ARGUMENTS * len(plan.arguments)


def deciding_variables(operation: Operation) -> list[str]:
    """The variables in the `@include` and `@skip` directives of the document."""
    finder = DecidingVariables()
    visit(operation.document, finder)
    return sorted(finder.names)


class DecidingVariables(Visitor):
    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def enter_directive(self, node: DirectiveNode, *_: Any) -> None:
        for argument in node.arguments or ():
            if isinstance(argument.value, VariableNode):
                self.names.add(argument.value.name.value)
