"""The endpoint: one ASGI application for a GraphQL schema, by HTTP and by WebSocket."""

from collections.abc import Collection, Mapping

import strawberry
from starlette.types import Receive, Scope, Send

from caches import CacheBudget
from engine.clients import OpenContext, ViewerOf
from engine.coalescing import Coalesced
from engine.compiler.execution import Execution
from engine.compiler.json_templates import TemplateCache
from engine.documents.operations import Operations
from engine.documents.persisted_documents import Documents
from engine.errors import Faults
from engine.handler import Engine
from engine.limits.documents import Limits
from engine.limits.rate_limiter import Rates
from engine.observers import Observer, Unobserved
from engine.requests import Requests, from_body, from_query_string
from engine.timeouts import Deadlines
from engine.transports.http import Exchanges
from engine.transports.websocket import Sockets

USUAL = Limits()


class Endpoint:
    """
    Serves a schema. Each operation, and each event of a subscription, is executed with a context opened for it alone.

    `codes` says which exceptions are expected, and what `extensions.code` clients read for them and their subclasses.
    Sizes are in bytes or characters, times in seconds. What is cached stays within a budget, by the bytes that
    the entries hold.

    `viewer_of` says what of a client decides the answers to its queries: equal queries that come at once are executed
    once for all clients of whom it is equal. Without it each is executed.
    """

    def __init__(
        self,
        schema: strawberry.Schema,
        open_context: OpenContext,
        codes: Mapping[type[Exception], str],
        *,
        trusted: Mapping[str, str] | None = None,
        only_trusted: bool = False,
        page: str | None = "/",
        allowed_origins: Collection[str] = (),
        trusted_proxies: Collection[str] = (),
        limits: Limits = USUAL,
        rates: Rates | None = None,
        budget: CacheBudget | None = None,
        max_body: int = 100_000,
        max_message: int = 64_000,
        max_messages: int = 100,
        max_subscriptions: int = 20,
        init_timeout: float = 5.0,
        keep_alive: float = 12.0,
        observer: Observer | None = None,
        viewer_of: ViewerOf | None = None,
    ) -> None:
        budget = budget or CacheBudget()
        operations = Operations(schema, limits, budget.cache("operations"))
        templates = TemplateCache(budget.share("templates"))
        budget.measure("templates", templates)
        engine = Engine(
            operations,
            Documents(trusted or {}, only_trusted, budget.cache("documents")),
            Execution(schema, templates, operations.grew, limits.answer),
            Faults(codes),
            open_context,
            observer or Unobserved(),
            limits,
            Deadlines(limits.seconds),
            frozenset(trusted_proxies),
            rates,
            viewer_of,
            Coalesced(),
        )
        requests = budget.cache("requests")
        posted, got = Requests(from_body, requests), Requests(from_query_string, requests)
        self._exchanges = Exchanges(engine, posted, got, page, max_body, keep_alive)
        self._sockets = Sockets(
            engine, frozenset(allowed_origins), max_message, max_subscriptions, init_timeout, max_messages
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._sockets.serve(scope, receive, send)
        else:
            await self._exchanges.serve(scope, receive, send)
