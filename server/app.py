"""The application: the GraphQL endpoint, the explorer, the contract file, metrics, the health of process and store."""

import asyncio
import gc
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from hashlib import sha256
from operator import attrgetter

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from caches import CacheBudget
from engine import Client, Endpoint, read_trusted_documents
from engine.shutdown import STOPPING
from resolvers.context import Context
from resolvers.errors import BadInput, SubscriberTooSlow, TooManyRankings
from resolvers.live import Live
from resolvers.rate_limits import WriteRates
from schema.schema import FILE, SCHEMA
from server import explorer, limits, shared_rates
from server.http_limits.connections import ConnectionLimiter
from server.observability import log_stream, tracing
from server.observability.log_stream import LogStream
from server.observability.logs import Counting, Logs
from server.observability.metrics import Metrics
from server.observability.observer import Watch
from server.settings import Settings, WrongSetting
from store import events
from store.client.tracking_cache import TrackingCaches
from store.errors import NotFound, StoreUnavailable, Unauthenticated
from store.ranking import config
from store.store import Store

PATH = "/graphql"
CODES: dict[type[Exception], str] = {
    BadInput: "BAD_USER_INPUT",
    NotFound: "NOT_FOUND",
    StoreUnavailable: "UNAVAILABLE",
    SubscriberTooSlow: "SUBSCRIBER_TOO_SLOW",
    TooManyRankings: "RATE_LIMITED",
    Unauthenticated: "UNAUTHENTICATED",
}
CONTRACT = FILE.read_text()
CONTRACT_TAG = f'"{sha256(CONTRACT.encode()).hexdigest()[:16]}"'


class Contexts:
    """Opens a context for each operation."""

    def __init__(self, rates: WriteRates | None) -> None:
        self._rates = rates

    def begin(self, store: Store, live: Live) -> None:
        self._store, self._live = store, live

    def open(self, client: Client) -> Context:
        address = client.address if self._rates else None
        return Context(self._store, client.token, self._live, address, self._rates)


class Application(Starlette):
    """What is asked of the GraphQL endpoint goes past Starlette's layers, which it needs none of."""

    endpoint: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan" and scope["path"] == PATH:
            await self.endpoint(scope, receive, send)
        else:
            await super().__call__(scope, receive, send)


def create(settings: Settings, limiter: ConnectionLimiter, worker: int = 1) -> Application:
    """The application of a worker, whose connections come through a limiter."""
    guard = limits.pages_of_others(settings)
    budget = CacheBudget(settings.cache_mb)
    budget.apply()
    tracking_caches = TrackingCaches(budget.share("records"))
    budget.measure("records", tracking_caches)
    app = Application(lifespan=partial(_lifespan, settings, tracking_caches), middleware=[guard] if guard else [])
    app.state.rates = rates = limits.rates(settings, budget)
    app.state.watch = watch = Watch(Metrics(budget), Logs(settings), tracing.from_environment())
    app.state.log = log = log_stream.install()
    log.on_dropped = watch.metrics.log_lines_dropped
    logging.getLogger().addHandler(Counting(watch.metrics.logged))
    limiter.on_change = watch.metrics.connections_of(worker)
    app.state.budget = budget
    app.state.contexts = contexts = Contexts(limits.write_rates(settings))
    endpoint = Endpoint(
        SCHEMA,
        contexts.open,
        CODES,
        trusted_documents=trusted_documents(settings),
        limits=limits.limits(settings),
        max_body=limits.max_request(),
        max_message=limits.max_request(),
        rate_limiter=rates,
        only_trusted=settings.only_trusted == "on",
        allowed_origins=settings.origins,
        trusted_proxies=settings.proxies,
        budget=budget,
        observer=watch,
        viewer_key=attrgetter("token"),
        stats_header=limits.STATS_HEADER,
    )
    app.endpoint = guard.cls(endpoint, *guard.args, **guard.kwargs) if guard else endpoint
    app.router.routes += [
        Route("/schema.graphql", contract),
        Route("/healthz", healthz),
        Route("/readyz", readyz),
        Route("/metrics", metrics),
        *explorer.routes(PATH),
    ]
    return app


@asynccontextmanager
async def _lifespan(
    settings: Settings, tracking_caches: TrackingCaches, app: Starlette
) -> AsyncIterator[dict[str, asyncio.Event]]:
    app.state.store = store = await open_store(settings, tracking_caches)
    listening = events.connect(settings.redis_url or "", store.site.partitions)
    async with (
        listening as heard,
        config.keep_current(store.site.rankings, store.site.redis, heard),
        shared_rates.shared(app.state.rates, store),
        app.state.watch.metrics.published(),
    ):
        app.state.contexts.begin(store, Live(store, heard, settings.rate_ranking_places))
        _collect_less()
        yield {STOPPING: asyncio.Event()}
    await store.close()
    await asyncio.to_thread(app.state.watch.tracing.close)
    await asyncio.to_thread(app.state.log.drain)


def _collect_less() -> None:
    """Let the garbage collector leave alone what stays for ever, and come seldom: requests leave next to no cycles."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def trusted_documents(settings: Settings) -> dict[str, str]:
    """
    The documents of the file that the settings name.

    Raises:
        WrongSetting: the file cannot be read, or there is none while nothing else is trusted.
    """
    file = settings.trusted_documents
    if file is None:
        if settings.only_trusted == "on":
            raise WrongSetting("UPVOTE_ONLY_TRUSTED=on: UPVOTE_TRUSTED_DOCUMENTS names no file")
        return {}
    try:
        return read_trusted_documents(file)
    except OSError as error:
        raise WrongSetting(f"UPVOTE_TRUSTED_DOCUMENTS={file}: {error.strerror}") from error
    except ValueError as error:
        raise WrongSetting(f"UPVOTE_TRUSTED_DOCUMENTS={error}") from error


async def open_store(
    settings: Settings, tracking_caches: TrackingCaches | None = None, *, strict: bool = True
) -> Store:
    assert settings.redis_url is not None, "whoever starts us has started our own Valkey, or was given another"
    return await Store.open(
        settings.redis_url,
        settings.policy,
        settings.partitions,
        settings.kept_orders,
        session_lifetime=settings.session_ttl,
        confirming_replicas=settings.confirming_replicas,
        cached_keys=settings.cache,
        tracking_caches=tracking_caches,
        strict=strict,
        bounded_hashing=settings.rate_limits == "on",
    )


async def contract(request: Request) -> Response:
    headers = {"ETag": CONTRACT_TAG, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == CONTRACT_TAG:
        return Response(status_code=304, headers=headers)
    return Response(CONTRACT, media_type="text/plain; charset=utf-8", headers=headers)


async def healthz(request: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def readyz(request: Request) -> Response:
    try:
        await request.app.state.store.site.redis.ping()
    except StoreUnavailable:
        return JSONResponse({"status": "unavailable", "store": "does not answer"}, status_code=503)
    refusal = await request.app.state.store.site.write_error()
    writes = {"writes": "refused", "reason": refusal} if refusal else {}
    log: LogStream = request.app.state.log
    note = {"log": f"cannot be written: {log.fault}"} if log.fault else {}
    return JSONResponse({"status": "ok", "store": "answers", **writes, **note})  # what can be read is ready


async def metrics(request: Request) -> Response:
    shown: Metrics = request.app.state.watch.metrics
    shown.writes_refused = await request.app.state.store.site.write_error() is not None
    return await asyncio.to_thread(shown.scrape, request)  # it reads two files of each process
