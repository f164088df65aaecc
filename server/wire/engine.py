"""From a GraphQL request to its answers, whatever they travel on: find the operation, open a context, execute."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, NamedTuple

from graphql import ExecutionResult, OperationType

from server.wire.clients import Client, Context, OpenContext
from server.wire.documents import Documents
from server.wire.encoding import encode
from server.wire.errors import Faults, Refused
from server.wire.execution import Execution, Source, Variables
from server.wire.operations import Operation, Operations
from server.wire.requests import GraphQLRequest


class Answer(NamedTuple):
    body: bytes
    has_errors: bool


@dataclass(frozen=True, slots=True)
class Call:
    """A request whose operation is known: all that is needed to answer it."""

    operation: Operation
    variables: Variables
    client: Client
    request_id: str

    @property
    def is_subscription(self) -> bool:
        return self.operation.kind is OperationType.SUBSCRIPTION


@dataclass(frozen=True, slots=True)
class Engine:
    operations: Operations
    documents: Documents
    execution: Execution
    faults: Faults
    open_context: OpenContext

    def prepare(self, request: GraphQLRequest, client: Client, request_id: str) -> Call:
        """
        Find the operation that a request asks for.

        Raises:
            Refused: its document is unknown, not trusted or not valid, or has no such operation.
        """
        operation = self.operations.find(self.documents.text(request), request.operation_name)
        self.documents.keep(request)
        return Call(operation, request.variables, client, request_id)

    async def answer(self, call: Call) -> Answer:
        """
        Answer a query or a mutation.

        Raises:
            Refused: its variables do not fit, no context could be opened, or the result is beyond JSON.
        """
        context = self._context(call)
        result = await self.execution.execute(call.operation, call.variables, context)
        return self._answer(call, result, context)

    async def answers(self, call: Call) -> AsyncGenerator[Answer, None]:
        """
        Answer any operation: once, or for every event of a subscription.

        Raises:
            Refused: as in `answer`; or the events cannot be had, or ended in an exception.
        """
        try:
            if call.is_subscription:
                async with aclosing(self._events(call)) as events:
                    async for answer in events:
                        yield answer
            else:
                yield await self.answer(call)
        except Refused:
            raise
        except Exception as error:
            raise self.faults.refusal(error, call.request_id) from None

    async def _events(self, call: Call) -> AsyncGenerator[Answer, None]:
        source = await self._source(call)
        try:
            async for event in source.events:
                context = self._context(call)
                yield self._answer(call, await self.execution.execute_event(source, event, context), context)
        finally:
            await close(source.events)

    async def _source(self, call: Call) -> Source:
        source = await self.execution.subscribe(call.operation, call.variables, self._context(call))
        if isinstance(source, ExecutionResult):
            errors = self.faults.describe(source.errors or (), call.request_id)
            raise Refused(errors[0]["extensions"]["code"], errors=errors)
        return source

    def _context(self, call: Call) -> Context:
        try:
            return self.open_context(call.client)
        except Exception as error:
            raise self.faults.refusal(error, call.request_id) from None

    def _answer(self, call: Call, result: ExecutionResult, context: Context) -> Answer:
        content: dict[str, Any] = {"data": result.data}
        if result.errors:
            content["errors"] = self.faults.describe(result.errors, call.request_id)
        if call.client.stats:
            content["extensions"] = {"stats": context.stats()}
        try:
            return Answer(encode(content), bool(result.errors))
        except (ValueError, RecursionError) as error:
            raise self.faults.refusal(error, call.request_id) from None


async def close(events: object) -> None:
    if isinstance(events, AsyncGenerator):
        await events.aclose()
