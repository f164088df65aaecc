"""
Executes GraphQL requests of any transport: finds the operation, opens a context, executes within a time limit.

Queries that are equal and arrive at the same time are executed once (coalesced). Results are encoded as JSON here, so
that these queries share the bytes. Rate limits are in points: `prepare` takes an estimate from the client's bucket (its
charge), which is corrected after the execution.
"""

from asyncio import CancelledError, current_task
from collections.abc import AsyncGenerator, Hashable, Mapping, MutableMapping
from contextlib import aclosing
from functools import partial
from math import ceil
from sys import getsizeof
from time import perf_counter
from typing import Any
from weakref import ref

import strawberry
from graphql import ExecutionResult

from caches import Cache
from engine.clients import Client, Headers, client_of, make_tuple
from engine.coalescing import Coalescer
from engine.compiler.completion import TemplateCache
from engine.compiler.execution import EventSource, Execution, Result
from engine.compiler.plan import Outcomes
from engine.documents import Operation, Operations, PersistedDocuments
from engine.errors import AnswerTooLarge, ErrorFormatter, Refused, session_changed
from engine.interfaces import Observation, Observer, OpenContext, OperationContext, Options, Refreshes
from engine.limits.cost import check_cost
from engine.limits.rate_limiter import Charge
from engine.requests import GraphQLRequest, OperationRequest, PreparedOperation
from engine.results import EncodedResult, encode, encode_to_keep
from engine.timeouts import Timeouts

COALESCED_SHARE = 10  # a request that joins an execution costs a tenth
USER_MICROSECONDS = 300  # to find the user of a token, which an entry of the cache `users` saves
COST_OF_A_REFUSAL = 10  # points: an invalid document is parsed every time, since it is not cached


class RequestHandler:
    """Prepares and executes the requests of an endpoint. See `Endpoint` for what it is made with."""

    def __init__(
        self,
        schema: strawberry.Schema,
        open_context: OpenContext,
        codes: Mapping[type[Exception], str],
        options: Options,
    ) -> None:
        self._documents = PersistedDocuments(options.trusted_documents, options.only_trusted, options.pool)
        self._operations = Operations(schema, options.limits, options.pool)
        templates = TemplateCache(options.pool)  # of the JSON of records
        self._execution = Execution(
            schema,
            templates,
            grew=self._operations.add_size,
            max_answer=options.limits.answer,
            hide_suggestions=not options.limits.introspection,
        )
        self._open_context = open_context
        self._observer = options.observer
        self._limits = options.limits
        self._timeouts = Timeouts(options.limits.seconds)
        self._proxies = options.trusted_proxies
        self._on_untrusted_proxy = options.on_untrusted_proxy
        self._ipv6_prefix = options.ipv6_prefix
        self._rate_limiter = options.rate_limiter
        self._viewer_key = options.viewer_key
        self._event_id = options.event_id
        self._while_subscribed = options.while_subscribed
        self._identify = options.identify
        self._find_user = options.find_user
        self._users: Cache[str, str] = options.pool.cache("users", USER_MICROSECONDS)
        self._coalescer = Coalescer()
        self._header_names = options.client_headers
        self.error_formatter = ErrorFormatter(codes)

    def client(self, scope: MutableMapping[str, Any], headers: Headers) -> Client:
        return client_of(scope, headers, self._proxies, self._header_names, self._on_untrusted_proxy, self._ipv6_prefix)

    def rate_headers(self, client: Client) -> list[tuple[bytes, bytes]]:
        """Headers that say what the client's points are."""
        return self._rate_limiter.headers(client) if self._rate_limiter else []

    async def handshake_headers(self, client: Client) -> list[tuple[bytes, bytes]]:
        """
        As `rate_headers`, for a client that has sent no operation yet: the rate limiter may have to look up its token
        and its server key. `Options.identify` is not needed for that.
        """
        if self._rate_limiter:
            await self._rate_limiter.identify(client)
        return self.rate_headers(client)

    async def prepare(self, request: GraphQLRequest, client: Client, request_id: str) -> OperationRequest:
        """
        Find the operation of a request and take its cost from the client's points.

        Raises:
            Refused: the client has no points left, or a server key that is not valid; the document is unknown, not
                trusted or not valid; the operation does not exist or costs too much; the cookie is of another user
                than the page shows; or the token is not accepted.
        """
        started = perf_counter()
        charge: Charge | None = None
        try:
            if client.viewer:  # the user whom the page shows, as the page says
                await self._require_viewer(client)
            if self._identify is not None and client.token is not None:
                client = await self._identify(client)
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
        # as the constructor, and faster
        return make_tuple(OperationRequest, (prepared, operation, client, request_id, started, charge))

    async def identified(self, client: Client) -> Client:
        """
        The client with what the application has found out about its token.

        Raises:
            Refused: the token is not accepted.
        """
        return client if self._identify is None or client.token is None else await self._identify(client)

    async def _require_viewer(self, client: Client) -> None:
        """
        Raises:
            Refused: the token is that of another user than the page shows.
        """
        user = await self._user(client.token) if client.token else None
        if user is not None and user.lower() != client.viewer.lower():
            raise session_changed()

    async def is_of_same_user(self, client: Client, token: str) -> bool:
        """Whether a token is valid now, and that of the user whose token a client has."""
        if client.token is None:
            return False
        before, after = await self._user(client.token), await self._find_user(token)
        return before is not None and before == after

    async def _user(self, token: str) -> str | None:
        """
        The user of a token. It never changes, so the cache may also have the user of a token that has ended. None if
        the token is not valid and not in the cache.
        """
        user: str | None = self._users.get(token)
        if user is None:
            user = await self._find_user(token)
            if user is not None:
                self._users.put(token, user, getsizeof(token) + getsizeof(user))
        return user

    def _prepared(self, request: GraphQLRequest) -> tuple[PreparedOperation, Operation]:
        """Find the operation of a request and check its cost; or take what an equal one found, while that exists."""
        prepared = request.prepared
        if prepared and (operation := prepared.operation()):
            self._operations.cache.get(operation.key)  # counts a hit, so that it is evicted later
            return prepared, operation
        own_text = request.query if request.is_own else None  # of the program itself: it need not be a trusted document
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
                if not observation.results:  # nothing was executed for this request: it has joined another
                    observation.results, observation.execution_path = 1, "coalesced"
        if request.charge:
            self._charge(request.charge, request, result, is_joined=observation.execution_path == "coalesced")
        return result

    async def stream(
        self, request: OperationRequest, refreshes: Refreshes | None = None
    ) -> AsyncGenerator[EncodedResult, None]:
        """
        Execute any operation: a query or mutation once, a subscription for each of its events. `refreshes` tells
        when the client has another token, if that can happen.

        Raises:
            Refused: as in `execute`; or the subscription failed.
        """
        if not request.operation.is_subscription:
            yield await self.execute(request)
            return
        with Observed(request, self._observer, self.error_formatter) as observation:
            async with self._while_subscribed(), aclosing(self._event_results(observation, refreshes)) as results:
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
        """Return a key that is equal for queries with equal results; None if the operation must not be coalesced."""
        if self._viewer_key is None or request.client.stats or not request.operation.is_query:
            return None
        return request.prepared, self._viewer_key(request.client)

    async def _execute(self, observation: Observation) -> EncodedResult:
        """Execute; after a timeout, a mutation that has changed something still returns its results so far."""
        request, outcomes = observation.request, Outcomes()
        context = self._open_context(request.client)
        arguments = request.operation, request.prepared.variables, context, outcomes
        result: Result
        try:
            result, observation.execution_path = await self._execution.execute(*arguments)
        except CancelledError:
            if not outcomes or not self._timeouts.is_over(current_task()):
                raise
            # executes nothing more: root fields with an outcome get that, and the others this error
            outcomes.timeout = f"not answered within {self._timeouts.seconds:g} seconds"
            observation.execution_path = "error"
            result = await self._execution.execute_by_graphql_core(*arguments)
        return self._encode(observation, result, context)

    async def _event_results(
        self, observation: Observation, refreshes: Refreshes | None
    ) -> AsyncGenerator[EncodedResult, None]:
        """
        The results of a subscription, one for each event. After a refresh of the token later ones are of the new
        client.
        """
        context = self._open_context(observation.request.client)
        source = await self._subscribe(observation.request, context)
        client, key = observation.request.client, self._subscription_key(observation.request)
        on_refresh = partial(_refresh, observation, context)
        if refreshes is not None:
            refreshes.watch_token(on_refresh)
        try:
            async for event in source.events:
                if observation.request.client is not client:
                    client, key = observation.request.client, self._subscription_key(observation.request)
                id = self._event_id(event)
                if id is None:
                    yield await self._event_result(observation, source, event, key)
                elif id.is_only_id:
                    yield EncodedResult(b"", has_errors=False, event_id=id.text)  # the client gets nothing but the id
                else:
                    result = await self._event_result(observation, source, event, key)
                    yield result._replace(event_id=id.text)
        finally:
            if refreshes is not None:
                refreshes.unwatch_token(on_refresh)
            if isinstance(source.events, AsyncGenerator):
                await source.events.aclose()

    async def _event_result(
        self, observation: Observation, source: EventSource, event: Any, key: Hashable | None
    ) -> EncodedResult:
        """Subscriptions with equal keys that receive the same object at the same time share its result."""
        if key is None:
            return await self._execute_event(observation, source, event)
        before, arguments = observation.results, (observation, source, event)  # arguments of `_execute_event`
        # the coalescer gets the event, too, and holds it: else the `id` of it could be that of another event
        result = await self._coalescer.execute((key, id(event)), self._execute_event, *arguments, event=event)
        observation.results = before + 1
        return result

    async def _execute_event(self, observation: Observation, source: EventSource, event: Any) -> EncodedResult:
        context = self._open_context(observation.request.client)
        return self._encode(observation, await self._execution.execute_event(source, event, context), context)

    def _subscription_key(self, request: OperationRequest) -> Hashable | None:
        """As `_coalescing_key`. Not `request.prepared`: messages of WebSockets are not cached, so each has its own."""
        if self._viewer_key is None or request.client.stats:
            return None
        return request.operation, encode_to_keep(request.prepared.variables), self._viewer_key(request.client)

    async def _subscribe(self, request: OperationRequest, context: OperationContext) -> EventSource:
        source = await self._execution.subscribe(request.operation, request.prepared.variables, context)
        if isinstance(source, ExecutionResult):
            errors = self.error_formatter.format(source.errors or (), request.request_id)
            raise Refused(errors[0]["extensions"]["code"], errors=errors)
        return source

    def _encode(self, observation: Observation, result: Result, context: OperationContext) -> EncodedResult:
        """The JSON of a result, which the observer is told of."""
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
        return EncodedResult(body, bool(result.errors), context.is_shareable, headers=context.response_headers)


def _refresh(observation: Observation, context: OperationContext, client: Client) -> None:
    """Go on with another token of the same user: in the source of a subscription, and in the results of its events."""
    own = observation.request.client
    if client.token != own.token:
        client = own._replace(token=client.token, identified=client.identified)
        observation.request = observation.request._replace(client=client)
        context.refresh(client.token, client.identified)


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
