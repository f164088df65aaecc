"""The ASGI application: GraphQL endpoint, site, explorer, schema file, metrics and health, set up from the settings."""

import asyncio
import gc
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from operator import attrgetter
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from caches import CacheBudget
from database.archiver import Limits as HotLimits
from database.archiver import archiving_old
from database.database import Database, DatabaseUnavailable, mirroring
from engine import (
    BackendUsage,
    Client,
    Endpoint,
    EventId,
    Limits,
    Observation,
    Options,
    RateLimiter,
    Refused,
    read_trusted_documents,
)
from engine.interfaces import STOPPING
from engine.limits.cost import PageSize, Weights
from engine.limits.rate_limiter import BUCKET_SIZE, RatePolicy
from resolvers import changes
from resolvers.arguments import SIZES, BadInput
from resolvers.changes import Change, Checkpoint, CursorGone
from resolvers.context import Context
from resolvers.live import Live, TooManyRankings
from resolvers.rate_limits import RateLimit, WriteRates
from resolvers.subscriptions import ChangesLost, SubscriberTooSlow
from schema.schema import FILE, SCHEMA
from server import documents, explorer, hacker_news, reader, shared_rates, sitemap, syndication
from server.compression import Compression
from server.http_limits.connections import ConnectionLimiter
from server.http_limits.unread_output import UnreadOutput
from server.observability.logs import Counting, Logs, LogStream, install_stream
from server.observability.metrics import DatabaseGauges, Metrics
from server.public_url import PublicURL
from server.settings import Settings, WrongSetting
from server.trusted import OriginWarnings, forwarding_warnings
from store import comments, effects, event_connection, log
from store.client.tracking_cache import TrackingCaches
from store.errors import Forbidden, NotFound, StoreUnavailable, Unauthenticated
from store.ranking import config
from store.ranking.formulas import GROUPS_PER_ARTICLE
from store.ranking.snapshots import MAX_POSITIONS
from store.records import INSTANTS
from store.store import Store
from store.threads import MAX_PLACES
from store.validation import (
    COMMENT_LENGTH,
    CONTENT_LENGTH,
    GROUP_LENGTH,
    IDEMPOTENCY_KEY_LENGTH,
    LINK_LENGTH,
    TITLE_LENGTH,
)

if TYPE_CHECKING:
    from server.observability.tracing import Spans

PATH = "/graphql"
CODES: dict[type[Exception], str] = {
    BadInput: "BAD_USER_INPUT",
    ChangesLost: "UNAVAILABLE",
    CursorGone: "CURSOR_GONE",
    DatabaseUnavailable: "UNAVAILABLE",
    Forbidden: "FORBIDDEN",
    NotFound: "NOT_FOUND",
    StoreUnavailable: "UNAVAILABLE",
    SubscriberTooSlow: "SUBSCRIBER_TOO_SLOW",
    TooManyRankings: "RATE_LIMITED",
    Unauthenticated: "UNAUTHENTICATED",
}
ADDRESS_SHARE = 2  # an address has twice the points of a user, if the settings do not say how many
STATS_HEADER = "X-Upvote-Stats"  # requests the cost of an execution
KEY_HEADER, VISITOR_HEADER = "X-Upvote-Key", "X-Upvote-Visitor"  # of servers that send requests of their visitors
PASSWORD_MUTATIONS = frozenset({"register", "logIn", "changePassword"})  # each computes a password hash: one a request
WEIGHTS = Weights(
    texts={
        ("Article", "content"): CONTENT_LENGTH // 10_000,
        ("Comment", "content"): COMMENT_LENGTH // 10_000,
        ("Comment", "descendantCount"): 1,  # counted in the store
        ("SearchEdge", "excerpt"): 2,
    },
    flags={
        "pinned": MAX_POSITIONS // 10,  # a copied position costs a tenth of one that is shown
        ("Article", "thread", "pinned"): 10,  # copies nothing
    },
    arguments={"since": 25, "query": 50},  # finding the places of such a page takes longer than reading their articles
    largest_page=SIZES[-1],
    lists={("Comment", "ancestors"): 100},  # there may be 1,000
    pages={("Article", "thread"): PageSize(50, MAX_PLACES)},
    sizes={"limit": PageSize(changes.DEFAULT_LIMIT, changes.LIMITS[-1])},
)
CORS_REQUEST_HEADERS = [  # that pages of other origins may send, beside those that browsers always allow
    *("Authorization", "Content-Type", "If-None-Match", "X-Request-Id", STATS_HEADER),
    *("traceparent", "tracestate", "baggage", "sentry-trace"),
    *("apollographql-client-name", "apollographql-client-version", "apollo-require-preflight"),
]
JSON_BYTES = 12  # of a character at most: an escaped surrogate pair
OTHER_CHARACTERS = 1_000  # of a request beside its document and texts: names, ids, punctuation
SPAN_EXPORTERS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
CONTRACT = FILE.read_text()
CONTRACT_TAG = f'W/"{sha256(CONTRACT.encode()).hexdigest()[:16]}"'

logger = logging.getLogger("upvote")


class Contexts:
    """Opens a context for each operation."""

    def __init__(self, rates: WriteRates | None, rate_limiter: RateLimiter | None) -> None:
        self._rates, self._rate_limiter = rates, rate_limiter

    def use(self, store: Store, live: Live, database: Database | None) -> None:
        self._store, self._live, self._database = store, live, database

    def open(self, client: Client) -> Context:
        address = client.address if self._rates else None
        points = partial(rate_limit, self._rate_limiter, client) if self._rate_limiter else None
        return Context(
            self._store,
            client.token,
            self._live,
            address,
            self._rates,
            points,
            self._database,
            server_key=client.key.text if client.key else None,
            last_event_id=client.last_event_id,
        )


@dataclass(frozen=True, slots=True)
class CompositeObserver:
    """Counts and logs each operation. If OpenTelemetry is configured, each is a span, too."""

    metrics: Metrics
    logs: Logs
    spans: "Spans | None"

    def on_start(self, observation: Observation) -> None:
        if self.spans:
            self.spans.on_start(observation)
        self.metrics.on_start(observation)

    def on_result(self, observation: Observation, usage: BackendUsage) -> None:
        self.metrics.on_result(observation, usage)

    def on_end(self, observation: Observation) -> None:
        self.metrics.on_end(observation)
        self.logs.on_end(observation)
        if self.spans:
            self.spans.on_end(observation)

    def on_refusal(self, code: str, client: Client, request_id: str) -> None:
        self.metrics.on_refusal(code)
        self.logs.on_refusal(code, client, request_id)


class Application(Starlette):
    """
    Requests to the GraphQL endpoint skip Starlette's router and error middleware: the endpoint needs neither.

    `compressed` is the endpoint for clients that may accept gzip. `hacker_news` has CORS headers of its own.
    """

    endpoint: ASGIApp
    compressed: ASGIApp
    hacker_news: ASGIApp
    origin_warnings: OriginWarnings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or scope["path"] != PATH:
            await self._serve_other(scope, receive, send)
            return
        endpoint = self.endpoint
        for name, value in scope["headers"]:  # no dict, and no middleware: this costs every request
            if name == b"origin":
                self.origin_warnings.check(value, scope)
            elif name == b"accept-encoding" and b"gzip" in value.lower():
                endpoint = self.compressed
        await endpoint(scope, receive, send)

    async def _serve_other(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_public = scope["type"] == "http" and scope["path"].startswith(hacker_news.PATH)
        try:
            await (self.hacker_news if is_public else super().__call__)(scope, receive, send)
        except Refused as refused:  # the server's connection raises it if too many responses are unread
            await documents.refusal(refused)(scope, receive, send)


def create(settings: Settings, limiter: ConnectionLimiter, worker: int = 1) -> Application:
    """The application of one process. `limiter` is that of its connections, `worker` its number."""
    budget = CacheBudget(settings.cache_mb)
    budget.apply()
    tracking_caches = TrackingCaches(budget.share("records"))
    budget.measure("records", tracking_caches)
    cors = cors_middleware(settings)
    compression = Middleware(Compression) if settings.compresses else None
    middleware = [each for each in (cors, compression) if each]
    app = Application(lifespan=partial(_lifespan, settings, tracking_caches), middleware=middleware)
    app.state.budget = budget
    app.state.rates = rate_limiter(settings, budget)
    app.state.contexts = Contexts(write_rates(settings), app.state.rates)
    app.state.observer = observer = CompositeObserver(Metrics(budget), Logs(settings), open_spans())
    app.state.log = log = install_stream()
    log.on_dropped = observer.metrics.log_lines_dropped
    logging.getLogger().addHandler(Counting(observer.metrics.logged))
    limiter.on_change = observer.metrics.connections_of(worker)
    app.state.endpoint = endpoint = _endpoint(settings, app)
    app.state.public_url = PublicURL(settings.public_url, settings.proxies)
    app.state.site_name = settings.site_name
    app.state.sitemaps = budget.cache("sitemaps")
    app.state.cache_control = documents.cache_control(settings.cache_seconds)
    app.endpoint = cors.cls(endpoint, *cors.args, **cors.kwargs) if cors else endpoint
    app.compressed = Compression(app.endpoint) if compression else app.endpoint
    app.hacker_news = hacker_news.application(app.state, [compression] if compression else [])
    app.origin_warnings = OriginWarnings(settings.origins)
    _add_routes(app, settings)
    return app


def _add_routes(app: Application, settings: Settings) -> None:
    app.router.routes += [
        Route("/schema.graphql", contract),
        Route("/healthz", healthz),
        Route("/readyz", readyz),
        Route("/metrics", metrics),
        *explorer.routes(PATH),
        *reader.routes(settings.reader == "on", PATH),
    ]
    if settings.reader == "on" or settings.public_url:  # there are pages that feeds can link to
        app.router.routes += [*syndication.routes(), *sitemap.routes()]
    if settings.reader == "on":
        app.router.default = reader.not_found(app.router.default)
        app.router.redirect_slashes = False  # to absolute addresses


def _endpoint(settings: Settings, app: Application) -> Endpoint:
    options = Options(
        trusted_documents=trusted_documents(settings),
        limits=document_limits(settings),
        max_body=max_request_bytes(),
        max_message=max_request_bytes(),
        rate_limiter=app.state.rates,
        only_trusted=settings.only_trusted == "on",
        allowed_origins=settings.origins,
        trusted_proxies=settings.proxies,
        on_untrusted_proxy=forwarding_warnings(),
        budget=app.state.budget,
        observer=app.state.observer,
        viewer_key=attrgetter("token"),
        event_id=event_id,
        explorer_path="explorer",  # relative, as a proxy may have added a prefix
        stats_header=STATS_HEADER,
        key_header=KEY_HEADER,
        visitor_header=VISITOR_HEADER,
        cache_seconds=settings.cache_seconds,
    )
    return Endpoint(SCHEMA, app.state.contexts.open, CODES, options)


def event_id(value: object) -> EventId | None:
    """The id of a value of a subscription: its cursor, at which the same subscription can go on."""
    match value:
        case Change(position=position):
            return EventId(position.cursor)
        case Checkpoint(cursor=cursor):
            return EventId(cursor, is_only_id=True)
        case _:
            return None


def open_spans() -> "Spans | None":
    """An exporter of spans, if OpenTelemetry's environment variables ask for one."""
    if not is_tracing_on():
        return None
    try:
        from server.observability.tracing import Spans
    except ImportError as missing:
        logger.warning("OTEL_ variables enable tracing, but %s is not installed", missing.name)
        return None
    return Spans()


def is_tracing_on() -> bool:
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    exporters = os.environ.get("OTEL_TRACES_EXPORTER")
    if exporters:
        return "otlp" in exporters.split(",")
    return any(os.environ.get(name) for name in SPAN_EXPORTERS)


def max_request_bytes() -> int:
    """The size of the largest valid request: one that posts an article with all texts at their limits, escaped."""
    groups = GROUPS_PER_ARTICLE * GROUP_LENGTH
    texts = TITLE_LENGTH + LINK_LENGTH + CONTENT_LENGTH + groups + IDEMPOTENCY_KEY_LENGTH
    return JSON_BYTES * (texts + Limits().characters + OTHER_CHARACTERS)


def document_limits(settings: Settings) -> Limits:
    is_open = settings.introspection == "on"
    return Limits(exclusive=PASSWORD_MUTATIONS, introspection=is_open, weights=WEIGHTS, answer=settings.max_answer)


def connection_limiter(settings: Settings) -> ConnectionLimiter:
    is_limited = settings.rate_limits == "on"
    max_connections = settings.max_address_connections if is_limited else None
    max_unread = settings.max_address_unread if is_limited else None
    unread_output = UnreadOutput(settings.max_unread, max_unread, settings.proxies)
    return ConnectionLimiter(settings.max_connections, max_connections, settings.proxies, unread_output=unread_output)


def rate_limiter(settings: Settings, budget: CacheBudget) -> RateLimiter | None:
    if settings.rate_limits == "off":
        return None
    points, back = settings.rate_points, settings.rate_points_back
    policies = {
        "user": RatePolicy(points, back, "UPVOTE_RATE_POINTS"),
        "address": RatePolicy(
            settings.rate_address_points or ADDRESS_SHARE * points,
            settings.rate_address_points_back or ADDRESS_SHARE * back,
            "UPVOTE_RATE_ADDRESS_POINTS",
        ),
        "key": RatePolicy(settings.rate_key_points, settings.rate_key_points_back, "UPVOTE_RATE_KEY_POINTS"),
    }
    rates = RateLimiter(policies, max_buckets=budget.share("buckets") // BUCKET_SIZE)
    budget.measure("buckets", rates)
    return rates


def rate_limit(rates: RateLimiter, client: Client) -> RateLimit:
    """What is left of a client's points."""
    status = rates.status(client)
    reset_at = min(round(status.reset_at * 1000), INSTANTS[-1])
    return RateLimit(status.limit, status.remaining, round(status.refill), reset_at)


def write_rates(settings: Settings) -> WriteRates | None:
    if settings.rate_limits == "off":
        return None
    return WriteRates(
        settings.rate_posts,
        settings.rate_posts_a_day,
        settings.rate_registrations,
        settings.rate_comments,
        settings.rate_comments_a_day,
    )


def cors_middleware(settings: Settings) -> Middleware | None:
    """Sends CORS headers to the allowed origins; without any, browsers let no other origin read an answer."""
    origins = settings.origins
    if not origins:
        return None
    return Middleware(
        CORSMiddleware,
        allow_origins=origins.exact,
        allow_origin_regex=origins.regex,
        allow_methods=["GET", "POST"],
        allow_headers=CORS_REQUEST_HEADERS,
        expose_headers=["ETag", "RateLimit", "RateLimit-Policy", "Retry-After", "X-Request-Id"],
    )


@asynccontextmanager
async def _lifespan(
    settings: Settings, tracking_caches: TrackingCaches, app: Starlette
) -> AsyncIterator[dict[str, asyncio.Event]]:
    app.state.store = store = await open_store(settings, tracking_caches)
    app.state.database = database = Database(settings.database) if settings.database else None
    async with (
        event_connection.connect(settings.redis_url or "", store.site) as received,
        config.keep_current(store.site.rankings, store.site.redis, received),
        effects.completing(store.site),
        comments.removing_threads(store.site),
        log.kept_trimmed(store.site, settings.log_seconds * 1000, settings.log_entries, effects.removable),
        shared_rates.synchronized(app.state.rates, store),
        app.state.observer.metrics.measuring_caches(),
        mirroring(database, store.site),
        archiving_old(database, store.site, HotLimits(settings.hot_articles, settings.hot_articles_per_user)),
    ):
        app.state.contexts.use(store, Live(store, received, settings.rate_ranking_places, database), database)
        collect_garbage_less_often()
        yield {STOPPING: asyncio.Event()}
    await store.close()
    if app.state.observer.spans:
        await asyncio.to_thread(app.state.observer.spans.close)
    await asyncio.to_thread(app.state.log.drain)


def collect_garbage_less_often() -> None:
    """Requests leave next to no reference cycles. Objects that exist at start are never collected."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def trusted_documents(settings: Settings) -> dict[str, str]:
    """
    The documents of the file that `UPVOTE_TRUSTED_DOCUMENTS` names; where only trusted ones are allowed, also those of
    the reader, if it is on.

    Raises:
        WrongSetting: the file cannot be read, or no documents are trusted where no others are allowed.
    """
    has_reader = settings.only_trusted == "on" and settings.reader == "on"
    own = read_trusted_documents(reader.STATIC / "documents.json") if has_reader else {}
    return own | _documents_of_file(settings)


def _documents_of_file(settings: Settings) -> dict[str, str]:
    file = settings.trusted_documents
    if file is None:
        if settings.only_trusted == "on" and settings.reader == "off":
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
    assert settings.redis_url is not None, "the command line sets it to the managed Valkey if it is not given"
    return await Store.open(
        settings.redis_url,
        settings.policy,
        settings.partitions,
        settings.kept_orders,
        session_lifetime=settings.session_ttl,
        max_mentions=settings.mentions,
        confirming_replicas=settings.confirming_replicas,
        cached_keys=settings.cache,
        tracking_caches=tracking_caches,
        strict=strict,
        bounded_hashing=settings.rate_limits == "on",
    )


async def contract(request: Request) -> Response:
    headers = {"ETag": CONTRACT_TAG, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match", "").removeprefix("W/") == CONTRACT_TAG.removeprefix("W/"):
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
    note |= await _database_note(request.app)
    return JSONResponse({"status": "ok", "store": "answers", **writes, **note})  # refused writes do not make it unready


async def _database_note(app: Starlette) -> dict[str, str]:
    database: Database | None = app.state.database
    if database is None:
        return {}
    if fault := await database.ping():
        return {"database": f"does not answer: {fault}"}
    try:
        lag = await database.lag(app.state.store.site)
    except StoreUnavailable:
        return {}
    return {"database": f"{lag.entries} entries and {lag.seconds:.1f} s behind" if lag.entries else "up to date"}


async def metrics(request: Request) -> Response:
    metrics: Metrics = request.app.state.observer.metrics
    store, database = request.app.state.store, request.app.state.database
    metrics.writes_refused = await store.site.write_error() is not None
    metrics.database = await _database_gauges(database, store) if database else None
    return await asyncio.to_thread(metrics.scrape)  # it reads two files for each process


async def _database_gauges(database: Database, store: Store) -> DatabaseGauges | None:
    """How far the database is behind; None if the store does not answer."""
    is_up = await database.ping() is None
    try:
        lag = await database.lag(store.site)
    except StoreUnavailable:
        return None
    return DatabaseGauges(is_up, lag.entries, lag.seconds)
