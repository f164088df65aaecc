"""The endpoint: an ASGI application that serves a GraphQL schema by HTTP and WebSocket."""

from collections.abc import Collection, Mapping

import strawberry
from starlette.types import Receive, Scope, Send

from caches import CacheBudget
from engine.coalescing import Coalescer
from engine.compiler.completion import TemplateCache
from engine.compiler.execution import Execution
from engine.documents import Operations, PersistedDocuments
from engine.errors import ErrorFormatter
from engine.handler import RequestHandler, Timeouts
from engine.interfaces import NullObserver, Observer, OpenContext, ViewerKey
from engine.limits.documents import Limits
from engine.limits.rate_limiter import RateLimiter
from engine.requests import ClientHeaders, RequestCache, parse_body, parse_query_string
from engine.transports.http import HTTPTransport
from engine.transports.websocket import WebSocketTransport

DEFAULT_LIMITS = Limits()


class Endpoint:
    """
    Serves a schema. Each operation, and each event of a subscription, is executed with a new context.

    `codes` maps expected exceptions, with their subclasses, to the `extensions.code` that clients read. Sizes are in
    bytes or characters, times in seconds. `budget` limits the memory of all caches together.

    A WebSocket may have `max_operations` at a time; another one is refused with `TOO_MANY_OPERATIONS`. Messages beyond
    `max_messages` a second are read later.

    `viewer_key` returns what the results of a client's queries depend on: equal queries of clients with equal keys
    that arrive at the same time are executed once. Without it every query is executed.

    A request with the header `stats_header: 1` gets the cost of its execution in `extensions`. A server that asks for
    its visitors sends its key as `key_header`, and the visitor's address as `visitor_header`; `rate_limiter.keys` looks
    keys up. Browsers that open the
    endpoint as a page are redirected to `explorer_path`.
    """

    def __init__(
        self,
        schema: strawberry.Schema,
        open_context: OpenContext,
        codes: Mapping[type[Exception], str],
        *,
        trusted_documents: Mapping[str, str] | None = None,
        only_trusted: bool = False,
        explorer_path: str | None = "/",
        allowed_origins: Collection[str] = (),
        trusted_proxies: Collection[str] = (),
        limits: Limits = DEFAULT_LIMITS,
        rate_limiter: RateLimiter | None = None,
        budget: CacheBudget | None = None,
        max_body: int = 100_000,
        max_message: int = 64_000,
        max_messages: int = 200,
        max_operations: int = 100,
        init_timeout: float = 5.0,
        keep_alive: float = 12.0,
        observer: Observer | None = None,
        viewer_key: ViewerKey | None = None,
        stats_header: str | None = None,
        key_header: str | None = None,
        visitor_header: str | None = None,
    ) -> None:
        budget = budget or CacheBudget()
        own_headers = stats_header, key_header, visitor_header
        operations = Operations(schema, limits, budget.cache("operations"))
        templates = TemplateCache(budget.share("templates"))
        budget.measure("templates", templates)
        handler = RequestHandler(
            operations,
            PersistedDocuments(trusted_documents or {}, only_trusted, budget.cache("documents")),
            Execution(schema, templates, operations.add_size, limits.answer),
            ErrorFormatter(codes),
            open_context,
            observer or NullObserver(),
            limits,
            Timeouts(limits.seconds),
            frozenset(trusted_proxies),
            rate_limiter,
            viewer_key,
            Coalescer(),
            ClientHeaders(*[name.lower().encode() if name else None for name in own_headers]),
        )
        requests = budget.cache("requests")
        bodies, query_strings = RequestCache(parse_body, requests), RequestCache(parse_query_string, requests)
        self._http = HTTPTransport(handler, bodies, query_strings, explorer_path, max_body, keep_alive)
        self._websocket = WebSocketTransport(
            handler, frozenset(allowed_origins), max_message, max_operations, init_timeout, max_messages
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._websocket.serve(scope, receive, send)
        else:
            await self._http.serve(scope, receive, send)
