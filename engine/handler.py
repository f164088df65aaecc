"""From a GraphQL request to its answers, whatever they travel on: find the operation, open a context, execute."""

from asyncio import CancelledError, current_task
from collections.abc import AsyncGenerator, Hashable
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any
from weakref import ref

from graphql import ExecutionResult, OperationType

from engine.calls import Answer, Asked, Call
from engine.clients import BackendUsage, Client, Context, OpenContext, ViewerOf
from engine.coalescing import Coalesced
from engine.compiler.execution import EventSource, Execution, Result
from engine.documents.operations import Operation, Operations
from engine.documents.persisted_documents import Documents
from engine.errors import Faults, Refused
from engine.json import encode
from engine.limits.answer_size import AnswerTooLarge
from engine.limits.documents import Limits
from engine.limits.rate_limiter import Rates
from engine.observers import Observation, Observer
from engine.outcomes import Outcomes
from engine.requests import GraphQLRequest
from engine.timeouts import Deadline, Deadlines

COST_OF_A_REFUSAL = 10  # what is refused was parsed, and is not remembered


@dataclass(frozen=True, slots=True)
class Engine:
    operations: Operations
    documents: Documents
    execution: Execution
    faults: Faults
    open_context: OpenContext
    observer: Observer
    limits: Limits
    deadlines: Deadlines
    proxies: frozenset[str]
    rates: Rates | None
    viewer_of: ViewerOf | None
    coalesced: Coalesced

    def prepare(self, request: GraphQLRequest, client: Client, request_id: str) -> Call:
        """
        Find the operation that a request asks for.

        Raises:
            Refused: its document is unknown, not trusted or not valid, or its operation is not there or costs too much;
                or its client asked too often.
        """
        started, turn = perf_counter(), None
        try:
            if self.rates:
                turn = self.rates.check(client)
            asked, operation = self._found(request)
        except Refused as refused:
            if self.rates and turn:
                self.rates.take(turn, COST_OF_A_REFUSAL)
            self.observer.refused(refused.code, client, request_id)
            raise
        if self.rates and turn:
            self.rates.take(turn, max(1, asked.cost))
        self.documents.keep(request)
        return Call(asked, operation, client, request_id, started)

    def _found(self, request: GraphQLRequest) -> tuple[Asked, Operation]:
        """What a request asks for: what it asked for before, as long as that operation is cached."""
        asked = request.asked
        if asked and (operation := asked.found()):
            self.operations.used(operation)
            return asked, operation
        operation = self.operations.find(self.documents.text(request), request.operation_name)
        cost = operation.cost.points(request.variables)
        self.limits.check_cost(cost)
        request.asked = Asked(ref(operation), request.variables, cost)
        return request.asked, operation

    async def answer(self, call: Call) -> Answer:
        """
        Answer a query or a mutation.

        Raises:
            Refused: its variables do not fit, no context could be opened, or the result is beyond JSON.
        """
        with Observed(self, call) as observation, Deadline(self.deadlines):
            execute = partial(self._executed, observation)
            question = self._question(call)
            if question is None:
                answer = await execute()
            else:
                answer = await self.coalesced.answer(question, execute)
                if not observation.answers:
                    observation.answers, observation.execution_path = 1, "coalesced"
        self._charge_bytes(call, answer)
        return answer

    async def answers(self, call: Call) -> AsyncGenerator[Answer, None]:
        """
        Answer any operation: once, or for every event of a subscription.

        Raises:
            Refused: as in `answer`; or the events cannot be had, or ended in an exception.
        """
        if not call.is_subscription:
            yield await self.answer(call)
            return
        with Observed(self, call) as observation:
            async with aclosing(self._events(observation)) as events:
                async for answer in events:
                    self._charge_bytes(call, answer)
                    yield answer

    def _charge_bytes(self, call: Call, answer: Answer) -> None:
        """Take the points of an answer's bytes, as far as they are more than the estimate that was taken before."""
        points = len(answer.body) // self.limits.weights.bytes_of_point
        if self.rates and points > call.asked.cost:
            self.rates.charge(call.client, points - call.asked.cost)

    def _question(self, call: Call) -> Hashable | None:
        """What is equal where answers are; None of what has to be executed for whoever asks it."""
        if self.viewer_of is None or call.client.stats or call.operation.kind is not OperationType.QUERY:
            return None
        return call.asked, self.viewer_of(call.client)

    async def _executed(self, observation: Observation) -> Answer:
        context = self.open_context(observation.call.client)
        result = await self._result(observation, context)
        return self._answer(observation, result, context)

    async def _result(self, observation: Observation, context: Context) -> Result:
        """A mutation that was carried out is answered in any case: when its time is over, with what is there."""
        call, outcomes = observation.call, Outcomes()
        asked = call.operation, call.asked.variables, context, outcomes
        try:
            result, observation.execution_path = await self.execution.execute(*asked)
            return result
        except CancelledError:
            if not outcomes or not self.deadlines.is_over(current_task()):
                raise
        outcomes.late = f"not answered within {self.deadlines.seconds:g} seconds"
        observation.execution_path = "error"
        return await self.execution.go_on(*asked)

    async def _events(self, observation: Observation) -> AsyncGenerator[Answer, None]:
        source = await self._source(observation.call)
        try:
            async for event in source.events:
                context = self.open_context(observation.call.client)
                result = await self.execution.execute_event(source, event, context)
                yield self._answer(observation, result, context)
        finally:
            await close(source.events)

    async def _source(self, call: Call) -> EventSource:
        source = await self.execution.subscribe(call.operation, call.asked.variables, self.open_context(call.client))
        if isinstance(source, ExecutionResult):
            errors = self.faults.describe(source.errors or (), call.request_id)
            raise Refused(errors[0]["extensions"]["code"], errors=errors)
        return source

    def _answer(self, observation: Observation, result: Result, context: Context) -> Answer:
        call, extensions = observation.call, context.notes()
        content: dict[str, Any] = {"data": result.data}
        if result.errors:
            content["errors"] = self.faults.describe(result.errors, call.request_id)
            observation.codes.update(error["extensions"]["code"] for error in content["errors"])
        if call.client.stats:
            extensions |= {"stats": stats(context.usage), "cost": call.asked.cost}
        if extensions:
            content["extensions"] = extensions
        observation.count(context.usage)
        self.observer.answered(observation, context.usage)
        body = encode(content)
        if len(body) > self.limits.answer:  # by what JSON escapes, or by its errors
            raise AnswerTooLarge(self.limits.answer)
        return Answer(body, bool(result.errors))


class Observed:
    """Whatever ends an operation early is a refusal to its client, and one more code to its observer."""

    __slots__ = ("_engine", "_observation")

    def __init__(self, engine: Engine, call: Call) -> None:
        self._engine = engine
        self._observation = Observation(call)

    def __enter__(self) -> Observation:
        self._engine.observer.began(self._observation)
        return self._observation

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        observation = self._observation
        refused = None
        if isinstance(error, Exception):
            request_id = observation.call.request_id
            refused = error if isinstance(error, Refused) else self._engine.faults.refusal(error, request_id)
            observation.codes.add(refused.code)
        observation.seconds = perf_counter() - observation.call.started
        self._engine.observer.ended(observation)
        if refused is not None and refused is not error:
            raise refused from None


def stats(usage: BackendUsage) -> dict[str, int]:
    return {"roundTrips": usage.round_trips, "commands": usage.commands}


async def close(events: object) -> None:
    if isinstance(events, AsyncGenerator):
        await events.aclose()
