"""Which plan an execution takes: none at first sight, one for each case of its variables, none if they keep failing."""

from typing import Any

import strawberry
from graphql import DirectiveNode, VariableNode, Visitor, visit
from graphql.execution.values import VariableValues

from server.wire.compiling import Plan, compiled
from server.wire.lasting import Memory
from server.wire.operations import Operation
from server.wire.outcomes import Outcomes
from server.wire.plans import Bail
from server.wire.sizes import AnswerTooLarge, Budget
from server.wire.variables import Signatures

WORTH_AFTER = 2  # executions: a flood of documents that are seen once must cost no more than it does
FAILURES_ALLOWED = 10


class Plans:
    """The plans of one operation, one for each answer that its `@include` and `@skip` can get from the variables."""

    def __init__(self, schema: strawberry.Schema, operation: Operation, memory: Memory) -> None:
        self._schema = schema
        self._operation = operation
        self._memory = memory
        self._seen = 0
        self._failed = 0
        self._signatures = Signatures(schema._schema, operation.node.variable_definitions or ())
        self._deciding = deciding_variables(operation)
        self._known: dict[tuple[Any, ...], Plan | Bail] = {}

    async def data(self, variables: dict[str, Any], context: Any, budget: Budget, outcomes: Outcomes) -> dict[str, Any]:
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
            return await self._plan(values).data(context, values, budget, outcomes)
        except AnswerTooLarge:
            raise
        except Exception:
            self._failed += 1
            raise

    def _plan(self, variables: VariableValues) -> Plan:
        case = tuple(map(variables.coerced.get, self._deciding))
        if case not in self._known:
            try:
                self._known[case] = compiled(self._schema, self._operation, variables, self._memory)
            except Bail as bail:
                self._known[case] = bail
        plan = self._known[case]
        if isinstance(plan, Bail):
            raise Bail(*plan.args)
        return plan


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
