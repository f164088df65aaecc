"""Which plan an execution takes: none at first sight, one for each case of its variables, none if they keep failing."""

from collections.abc import Callable
from typing import Any

import strawberry
from graphql import DirectiveNode, VariableNode, Visitor, visit
from graphql.execution.values import VariableValues

from engine.compiler.compile import Plan, compiled
from engine.compiler.json_templates import Memory
from engine.compiler.plan import Bail
from engine.compiler.variables import Signatures
from engine.documents.operations import Operation
from engine.limits.answer_size import AnswerTooLarge, Budget
from engine.outcomes import Outcomes

WORTH_AFTER = 2  # executions: a flood of documents that are seen once must cost no more than it does
FAILURES_ALLOWED = 10
MOST_CASES = 16  # plans of one operation that are kept
OVERHEAD = 3_000  # bytes of what is found out of an operation before it is compiled
VARIABLE = 3_000  # bytes that are found out of each variable
FIELD = 2_000  # bytes that each field of a plan takes
ARGUMENTS = 2_500  # bytes that the arguments of a field take


class Plans:
    """
    The plans of one operation, one for each answer that its `@include` and `@skip` can get from the variables.

    `grew` is told of each plan how many bytes it takes. Where there are many cases, the oldest plan is dropped.
    """

    def __init__(
        self,
        schema: strawberry.Schema,
        operation: Operation,
        memory: Memory,
        grew: Callable[[Operation, int], None],
    ) -> None:
        self._schema = schema
        self._memory = memory
        self._grew = grew
        self._seen = 0
        self._failed = 0
        definitions = operation.node.variable_definitions or ()
        self._signatures = Signatures(schema._schema, definitions)
        self._deciding = deciding_variables(operation)
        self._known: dict[tuple[Any, ...], Plan | str] = {}
        grew(operation, OVERHEAD + VARIABLE * len(definitions))

    async def data(
        self, operation: Operation, variables: dict[str, Any], context: Any, budget: Budget, outcomes: Outcomes
    ) -> dict[str, Any]:
        """
        The data of an answer without errors.

        Raises:
            Bail: the operation is new, cannot be compiled, or has failed too often to be worth it.
            AnswerTooLarge: it is larger than the budget.
        """
        self._seen += 1
        if self._seen < WORTH_AFTER:
            raise Bail("new")
        if self._failed > FAILURES_ALLOWED and 2 * self._failed > self._seen:
            raise Bail("not worth it")
        try:
            values = self._signatures.coerced(variables)
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
            raise Bail(plan)
        return plan

    def _new_plan(self, operation: Operation, variables: VariableValues) -> Plan | str:
        """A plan, or the reason why there is none."""
        if len(self._known) >= MOST_CASES:
            self._grew(operation, -size_of(self._known.pop(next(iter(self._known)))))
        try:
            plan: Plan | str = compiled(self._schema, operation, variables, self._memory)
        except Bail as bail:
            plan = str(bail)
        self._grew(operation, size_of(plan))
        return plan


def size_of(plan: Plan | str) -> int:
    """What a plan takes, in bytes."""
    return FIELD if isinstance(plan, str) else FIELD * (1 + plan.fields) + ARGUMENTS * len(plan.arguments)


def deciding_variables(operation: Operation) -> list[str]:
    """The variables that `@include` and `@skip` of the document look at."""
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
