"""
Executes GraphQL requests of any transport: finds the operation, opens a context, executes within a time limit.

Queries that are equal and arrive at the same time are executed once. Results are JSON already, so that they share it.
"""

import json
from asyncio import CancelledError, Future, Task, TimerHandle, current_task, get_running_loop
from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable, Mapping
from contextlib import aclosing
from math import ceil
from time import monotonic, perf_counter
from typing import Any, NamedTuple, TypeAlias
from weakref import ref

import orjson
import strawberry
from graphql import ExecutionResult

from engine.compiler.completion import TemplateCache
from engine.compiler.execution import EventSource, Execution, Result
from engine.compiler.plan import Outcomes
from engine.documents import Operation, Operations, PersistedDocuments
from engine.errors import AnswerTooLarge, Code, ErrorFormatter, Refused
from engine.interfaces import Context, Observation, Observer, OpenContext, Options
from engine.limits.cost import check_cost
from engine.limits.rate_limiter import Charge
from engine.requests import (
    Client,
    GraphQLRequest,
    Headers,
    OperationRequest,
    PreparedOperation,
    client_of,
    make_tuple,
)

COALESCED_SHARE = 10  # a request that joins an execution costs a tenth
COST_OF_A_REFUSAL = 10  # points: an invalid document is parsed every time, since it is not cached


class EncodedResult(NamedTuple):
    """
    The result of an operation, or of one event, as JSON. The body is empty if the event is only an id.

    One that is not shareable is for this client alone, though the viewer key of another client may be equal.
    """

    body: bytes
    has_errors: bool
    is_shareable: bool = True
    event_id: str = ""


Shared: TypeAlias = EncodedResult | AnswerTooLarge | None  # None: each waiting request executes for itself


class RequestHandler:
    """Prepares and executes the requests of an endpoint."""

    def __init__(
        self,
        schema: strawberry.Schema,
        open_context: OpenContext,
        codes: Mapping[type[Exception], str],
        options: Options,
    ) -> None:
        budget = options.budget
        templates = TemplateCache(budget.share("templates"))
        budget.measure("templates", templates)
        documents = budget.cache("documents")
        self._documents = PersistedDocuments(options.trusted_documents, options.only_trusted, documents)
        self._operations = Operations(schema, options.limits, budget.cache("operations"))
        self._execution = Execution(schema, templates, self._operations.add_size, options.limits.answer)
        self._open_context = open_context
        self._observer = options.observer
        self._limits = options.limits
        self._timeouts = Timeouts(options.limits.seconds)
        self._proxies = options.trusted_proxies
        self._on_untrusted_proxy = options.on_untrusted_proxy
        self._rate_limiter = options.rate_limiter
        self._viewer_key = options.viewer_key
        self._event_id = options.event_id
        self._coalescer = Coalescer()
        self._header_names = options.client_headers
        self.error_formatter = ErrorFormatter(codes)

    def client(self, scope: Mapping[str, Any], headers: Headers) -> Client:
        return client_of(scope, headers, self._proxies, self._header_names, self._on_untrusted_proxy)

    def rate_headers(self, client: Client) -> list[tuple[bytes, bytes]]:
        """Headers that say what the client's points are."""
        return self._rate_limiter.headers(client) if self._rate_limiter else []

    async def handshake_headers(self, client: Client) -> list[tuple[bytes, bytes]]:
        """The same for a client that has sent no operation yet: its token and server key may have to be looked up."""
        if self._rate_limiter:
            await self._rate_limiter.identify(client)
        return self.rate_headers(client)

    async def prepare(self, request: GraphQLRequest, client: Client, request_id: str) -> OperationRequest:
        """
        Find the operation of a request and take its cost from the client's points.

        Raises:
            Refused: the client has no points left, or a server key that is not valid; the document is unknown, not
                trusted or not valid; or the operation does not exist or costs too much.
        """
        started = perf_counter()
        charge: Charge | None = None
        try:
            if self._rate_limiter:
                charge = await self._rate_limiter.admit(client)
                client = charge.client
            prepared, operation = self._prepared(request)
        except Refused as refused:
            if charge:
                charge.set(COST_OF_A_REFUSAL)
            self._observer.on_refusal(refused.code, client, request_id)
            raise
        if charge:
            charge.set(max(1, prepared.cost))
        if request.document_id is not None and request.query is not None:
            self._documents.store(request.query, request.document_id)
        return make_tuple(OperationRequest, (prepared, operation, client, request_id, started, charge))

    def _prepared(self, request: GraphQLRequest) -> tuple[PreparedOperation, Operation]:
        """Return what an equal request prepared before, as long as its operation is cached."""
        prepared = request.prepared
        if prepared and (operation := prepared.operation()):
            self._operations.cache.get(operation.key)  # makes it the last used, which is evicted last
            return prepared, operation
        own_text = request.query if request.is_own else None
        text = own_text or self._documents.text(request.query, request.document_id)
        operation = self._operations.find(text, request.operation_name)
        cost = operation.cost.points(request.variables)
        check_cost(cost, self._limits.cost)
        request.prepared = PreparedOperation(ref(operation), request.variables, cost)
        return request.prepared, operation

    async def execute(self, request: OperationRequest) -> EncodedResult:
        """
        Execute a query or a mutation.

        Raises:
            Refused: the variables are not valid, no context could be opened, it took too long, or the result is too
                large or cannot be encoded.
        """
        with Observed(request, self._observer, self.error_formatter) as observation, self._timeouts:
            key = self._coalescing_key(request)
            if key is None:
                result = await self._execute(observation)
            else:
                result = await self._coalescer.execute(key, self._execute, observation)
                if not observation.results:
                    observation.results, observation.execution_path = 1, "coalesced"
        if request.charge:
            self._charge(request.charge, request, result, is_joined=observation.execution_path == "coalesced")
        return result

    async def stream(self, request: OperationRequest) -> AsyncGenerator[EncodedResult, None]:
        """
        Execute any operation: a query or mutation once, a subscription for each of its events.

        Raises:
            Refused: as in `execute`; or the subscription failed.
        """
        if not request.operation.is_subscription:
            yield await self.execute(request)
            return
        with Observed(request, self._observer, self.error_formatter) as observation:
            async with aclosing(self._event_results(observation)) as results:
                async for result in results:
                    if request.charge:
                        more = self._points_of_bytes(result) - request.prepared.cost
                        request.charge.set(request.charge.points + max(0, more))
                    yield result

    def _charge(self, charge: Charge, request: OperationRequest, result: EncodedResult, *, is_joined: bool) -> None:
        """Correct the estimate that `prepare` has taken: for the size of the result, and for a shared execution."""
        points = max(1, request.prepared.cost, self._points_of_bytes(result))
        charge.set(ceil(points / COALESCED_SHARE) if is_joined else points)

    def _points_of_bytes(self, result: EncodedResult) -> int:
        return len(result.body) // self._limits.weights.bytes_per_point

    def _coalescing_key(self, request: OperationRequest) -> Hashable | None:
        """Return what is equal for queries with equal results; None if the operation must not be coalesced."""
        if self._viewer_key is None or request.client.stats or not request.operation.is_query:
            return None
        return request.prepared, self._viewer_key(request.client)

    async def _execute(self, observation: Observation) -> EncodedResult:
        context = self._open_context(observation.request.client)
        result = await self._result(observation, context)
        return self._encode(observation, result, context)

    async def _result(self, observation: Observation, context: Context) -> Result:
        """Execute; after a timeout, a mutation that has changed something still returns its results so far."""
        request, outcomes = observation.request, Outcomes()
        arguments = request.operation, request.prepared.variables, context, outcomes
        try:
            result, observation.execution_path = await self._execution.execute(*arguments)
            return result
        except CancelledError:
            if not outcomes or not self._timeouts.is_over(current_task()):
                raise
        outcomes.timeout = f"not answered within {self._timeouts.seconds:g} seconds"
        observation.execution_path = "error"
        return await self._execution.execute_by_graphql_core(*arguments)

    async def _event_results(self, observation: Observation) -> AsyncGenerator[EncodedResult, None]:
        source = await self._subscribe(observation.request)
        key = self._subscription_key(observation.request)
        try:
            async for event in source.events:
                id = self._event_id(event)
                if id is None:
                    yield await self._event_result(observation, source, event, key)
                elif id.is_only_id:
                    yield EncodedResult(b"", False, event_id=id.text)
                else:
                    result = await self._event_result(observation, source, event, key)
                    yield result._replace(event_id=id.text)
        finally:
            if isinstance(source.events, AsyncGenerator):
                await source.events.aclose()

    async def _event_result(
        self, observation: Observation, source: EventSource, event: Any, key: Hashable | None
    ) -> EncodedResult:
        """Subscriptions with equal keys that receive the same object at the same time share its result."""
        if key is None:
            return await self._execute_event(observation, source, event)
        before = observation.results
        result = await self._coalescer.execute((key, id(event)), self._execute_event, observation, source, event)
        observation.results = before + 1
        return result

    async def _execute_event(self, observation: Observation, source: EventSource, event: Any) -> EncodedResult:
        context = self._open_context(observation.request.client)
        return self._encode(observation, await self._execution.execute_event(source, event, context), context)

    def _subscription_key(self, request: OperationRequest) -> Hashable | None:
        """As `_coalescing_key`. Not `request.prepared`: messages of WebSockets are not cached, so each has its own."""
        if self._viewer_key is None or request.client.stats:
            return None
        return request.operation, encode(request.prepared.variables), self._viewer_key(request.client)

    async def _subscribe(self, request: OperationRequest) -> EventSource:
        context = self._open_context(request.client)
        source = await self._execution.subscribe(request.operation, request.prepared.variables, context)
        if isinstance(source, ExecutionResult):
            errors = self.error_formatter.format(source.errors or (), request.request_id)
            raise Refused(errors[0]["extensions"]["code"], errors=errors)
        return source

    def _encode(self, observation: Observation, result: Result, context: Context) -> EncodedResult:
        request, extensions, usage = observation.request, context.extensions(), context.usage
        content: dict[str, Any] = {"data": result.data}
        if result.errors:
            content["errors"] = self.error_formatter.format(result.errors, request.request_id)
            observation.codes.update(error["extensions"]["code"] for error in content["errors"])
        if request.client.stats:
            stats = {"roundTrips": usage.round_trips, "commands": usage.commands}
            extensions |= {"stats": stats, "cost": request.prepared.cost}
        if extensions:
            content["extensions"] = extensions
        observation.results += 1
        observation.round_trips += usage.round_trips
        observation.commands += usage.commands
        self._observer.on_result(observation, usage)
        body = encode(content)
        if len(body) > self._limits.answer:  # escaped characters and errors were not counted before
            raise AnswerTooLarge(self._limits.answer)
        return EncodedResult(body, bool(result.errors), context.is_shareable)


class Observed:
    """Calls the observer at the start and end of an execution, and converts any exception to `Refused`."""

    __slots__ = ("_error_formatter", "_observation", "_observer")

    def __init__(self, request: OperationRequest, observer: Observer, error_formatter: ErrorFormatter) -> None:
        self._observation = Observation(request)
        self._observer = observer
        self._error_formatter = error_formatter

    def __enter__(self) -> Observation:
        self._observer.on_start(self._observation)
        return self._observation

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        observation = self._observation
        refused = None
        if isinstance(error, Exception):
            request_id = observation.request.request_id
            refused = error if isinstance(error, Refused) else self._error_formatter.refusal(error, request_id)
            observation.codes.add(refused.code)
        observation.seconds = perf_counter() - observation.request.started
        self._observer.on_end(observation)
        if refused is not None and refused is not error:
            raise refused from None


class Coalescer:
    """
    Executes queries with equal keys once if they arrive in the same iteration of the event loop.

    A query never joins an execution that began in an earlier iteration. It therefore reads data that is as new as
    if it had been executed itself, and a client reads its own writes.
    """

    def __init__(self) -> None:
        self._waiting: dict[Hashable, list[Future[Shared]]] = {}  # by the keys of this iteration's executions

    async def execute(
        self, key: Hashable, execute: Callable[..., Awaitable[EncodedResult]], *arguments: Any
    ) -> EncodedResult:
        """
        Execute, with these arguments, or wait for the result of an equal query.

        A result with errors is not shared: they contain the request's id, and may not occur again.

        Raises:
            AnswerTooLarge: the result is too large. All equal queries get this error.
        """
        waiting = self._waiting.get(key)
        if waiting is not None:
            joined: Future[Shared] = get_running_loop().create_future()
            waiting.append(joined)
            shared = await joined
            if isinstance(shared, AnswerTooLarge):
                raise AnswerTooLarge(shared.limit)
            return shared or await execute(*arguments)
        return await self._lead(key, execute, *arguments)

    async def _lead(
        self, key: Hashable, execute: Callable[..., Awaitable[EncodedResult]], *arguments: Any
    ) -> EncodedResult:
        if not self._waiting:
            get_running_loop().call_soon(self._waiting.clear)
        waiting = self._waiting[key] = []
        shared: Shared = None
        try:
            result = await execute(*arguments)
            shared = result if result.is_shareable and not result.has_errors else None
            return result
        except AnswerTooLarge as too_large:
            shared = too_large
            raise
        finally:
            if self._waiting.get(key) is waiting:
                del self._waiting[key]
            for each in waiting:
                if not each.done():  # it is done if its client has left
                    each.set_result(shared)


class Timeouts:
    """
    Limits the time of blocks, as `asyncio.timeout` does, but raises `Refused`. A task may be in one block at a time.

    One timer serves all tasks of the event loop, because all have the same time limit of `seconds`. `asyncio.timeout`
    sets one for each task.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        # For each task the time when it is cancelled, and how often it was cancelled before; the oldest is the first.
        self._running: dict[Task[Any], tuple[float, int]] = {}
        self._late: dict[Task[Any], int] = {}  # those that were cancelled, until they leave the block
        self._timer: TimerHandle | None = None

    def __enter__(self) -> None:
        task = current_task()
        assert task is not None, "code in an event loop runs in a task"
        self._running[task] = monotonic() + self.seconds, task.cancelling()
        if self._timer is None:
            self._timer = get_running_loop().call_later(self.seconds, self._cancel_late)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """The timer stays: when it fires, it is set for the oldest task."""
        task = current_task()
        assert task is not None, "it was in the block"
        if self._running.pop(task, None) is not None:
            return
        is_timeout = task.uncancel() <= self._late.pop(task)
        if is_timeout and isinstance(error, CancelledError):
            raise Refused(Code.TIMED_OUT, f"not answered within {self.seconds:g} seconds") from None

    def is_over(self, task: Task[Any] | None) -> bool:
        """Whether a task in a block was cancelled because its time was over."""
        return task in self._late

    def _cancel_late(self) -> None:
        self._timer = None
        now = monotonic()
        while self._running:
            task, (end, cancelling) = next(iter(self._running.items()))
            if end > now:
                self._timer = get_running_loop().call_later(end - now, self._cancel_late)
                return
            del self._running[task]
            self._late[task] = cancelling
            task.cancel()


def encode(value: Any) -> bytes:
    """
    Raises:
        ValueError, RecursionError: a number is too long or the nesting too deep for the standard library, too.
    """
    try:
        return orjson.dumps(value)
    except TypeError:
        # orjson supports no integers beyond 64 bits, no lone surrogates and no more than 254 levels.
        return json.dumps(value, default=_plain).encode()


def refusal_body(refused: Refused) -> bytes:
    return encode({"errors": refused.errors})


def _plain(value: Any) -> Any:
    return orjson.loads(orjson.dumps(value)) if isinstance(value, orjson.Fragment) else str(value)
