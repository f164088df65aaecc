"""The ASGI application: GraphQL endpoint, site (`reader`), explorer, schema file, metrics and health, by settings."""

import asyncio
import gc
import logging
import os
import sys
from collections.abc import AsyncIterator, Awaitable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from archive import annulments, banned_texts, leaving
from archive.mover import HotLimits, archiving_old
from caches import MEGABYTE, POOL
from database.database import Database, DatabaseUnavailable, mirroring
from engine import (
    BackendUsage,
    Client,
    Endpoint,
    EventId,
    Observation,
    Options,
    RateLimiter,
    Refused,
)
from engine.clients import headers_of
from engine.interfaces import STOPPING
from resolvers.arguments import BadInput
from resolvers.changes import Change, Checkpoint, CursorGone
from resolvers.context import Context
from resolvers.live import Live, TooManyRankings
from resolvers.rate_limits import WriteRates
from resolvers.subscriptions import ChangesLost, SubscriberTooSlow
from schema.schema import FILE, SCHEMA
from server import documents, explorer, export, hacker_news, reader, shared_rates, sitemap, syndication
from server.branding import serving as site_serving
from server.browsers import VIEWER_HEADER, Browsers, CrossOrigin, session_cookie
from server.compression import Compression
from server.configured import files_of, issuers_of, languages_of, open_store, text_check_of, trusted_documents
from server.ended_sessions import EndedSessions
from server.http.connections import ConnectionLimiter
from server.issuers import front_door
from server.issuers.accepting import AcceptedTokens
from server.issuers.keyrings import KeysUnavailable
from server.issuers.tokens import is_issuer_token
from server.limits import document_limits, max_request_bytes, rate_limit, rate_limiter, write_rates
from server.mails import unsubscribing
from server.mails.running import sending_mails
from server.observability import health
from server.observability.log_stream import install_stream
from server.observability.logs import Counting, Logs
from server.observability.memory import StoreMemory
from server.observability.metrics import Metrics
from server.page_titles import PageTitles
from server.public_url import PublicURL
from server.settings import Settings
from server.sitemap import Sitemaps
from server.trusted import OriginWarnings, forwarding_warnings
from server.webhooks.running import sending
from store import effects, event_connection, home_indexes, log, recent_comments, removals
from store.errors import (
    Forbidden,
    NotAModerator,
    NotFound,
    NotOffered,
    RateLimited,
    StoreUnavailable,
    TokenRefused,
    Unauthenticated,
)
from store.events import STATES
from store.ranking import config
from store.sessions import parse_token
from store.store import Store

if TYPE_CHECKING:
    from server.observability.tracing import Spans

PATH = "/graphql"
# `extensions.code` of an error in a response, by the exception. Others are faults: clients get no details of them.
CODES: dict[type[Exception], str] = {
    BadInput: "BAD_USER_INPUT",
    ChangesLost: "UNAVAILABLE",
    CursorGone: "CURSOR_GONE",
    DatabaseUnavailable: "UNAVAILABLE",
    Forbidden: "FORBIDDEN",
    NotAModerator: "NOT_A_MODERATOR",
    NotFound: "NOT_FOUND",
    NotOffered: "NOT_OFFERED",
    RateLimited: "RATE_LIMITED",
    StoreUnavailable: "UNAVAILABLE",
    SubscriberTooSlow: "SUBSCRIBER_TOO_SLOW",
    KeysUnavailable: "UNAVAILABLE",
    TooManyRankings: "RATE_LIMITED",
    Unauthenticated: "UNAUTHENTICATED",
}
STATS_HEADER = "X-Upvote-Stats"  # a request with it gets the cost of its execution in `extensions`
# A server that sends requests on behalf of its visitors names its server key and the visitor.
KEY_HEADER, VISITOR_HEADER = "X-Upvote-Key", "X-Upvote-Visitor"
CORS_REQUEST_HEADERS = [  # headers that pages of other origins may send, beside those that browsers always allow
    "Authorization", "Content-Type", "If-None-Match", "X-Request-Id", STATS_HEADER, VIEWER_HEADER,
    "traceparent", "tracestate", "baggage", "sentry-trace",
    "apollographql-client-name", "apollographql-client-version", "apollo-require-preflight",
]  # fmt: skip
CORS_OPTIONS: dict[str, Any] = {
    "allow_methods": ["GET", "POST"],
    "allow_headers": CORS_REQUEST_HEADERS,
    "expose_headers": ["ETag", "RateLimit", "RateLimit-Policy", "Retry-After", "X-Request-Id"],
}
SPAN_EXPORTER_VARIABLES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
CONTRACT = FILE.read_text()
CONTRACT_TAG = f'W/"{sha256(CONTRACT.encode()).hexdigest()[:16]}"'

logger = logging.getLogger("upvote")


class Contexts:
    """
    Opens a `Context` for each operation: the store and all else that its resolvers use, on behalf of one client.

    `rates` limit how often a client writes, `rate_limiter` limits the cost points of all its requests; both are None
    without rate limits. `tokens` accepts tokens of issuers, services outside at which users log in. `titles` reads the
    titles of linked pages, if the settings allow it.
    """

    def __init__(
        self,
        rates: WriteRates | None,
        rate_limiter: RateLimiter | None,
        browsers: Browsers,
        tokens: AcceptedTokens | None = None,
        titles: PageTitles | None = None,
    ) -> None:
        self._rates, self._rate_limiter, self._browsers = rates, rate_limiter, browsers
        self._tokens, self._titles = tokens, titles

    def use(self, store: Store, live: Live, database: Database | None) -> None:
        """Set what the server has opened at its start; requests come after this."""
        self._store, self._live, self._database = store, live, database

    def receiving_votes(self) -> AbstractAsyncContextManager[object]:
        """A context that a subscription enters: this process then receives the events that only subscriptions need."""
        return self._live.events.receiving_votes()

    async def find_user(self, token: str) -> str | None:
        """The user of a token; None if its session has ended, or it is not accepted. One round trip."""
        if self._tokens is not None and is_issuer_token(token):
            with suppress(TokenRefused, KeysUnavailable):
                return (await self._tokens.user_of(token)).username
            return None
        session = parse_token(token)
        if session is None:
            return None
        (name,) = await self._store.sessions.usernames([session])
        return name

    def open(self, client: Client) -> Context:
        """The context of an operation that a client sends."""
        address = client.address if self._rates else None  # None: writes are not limited
        read_rate_limit = partial(rate_limit, self._rate_limiter, client) if self._rate_limiter else None
        return Context(
            self._store,
            client.token,
            live=self._live,
            address=address,
            rates=self._rates,
            read_rate_limit=read_rate_limit,
            database=self._database,
            server_key=client.key.text if client.key else None,
            last_event_id=client.last_event_id,
            browser=self._browsers,
            scope=client.scope,
            identified=client.identified,
            issuers=self._tokens,
            titles=self._titles,
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

    `cross_origin_endpoint` is the GraphQL endpoint with CORS headers, `compressed_endpoint` the same for clients that
    may accept gzip. `hacker_news` is the API in the format of Hacker News; it sets its own CORS headers.
    """

    cross_origin_endpoint: ASGIApp
    compressed_endpoint: ASGIApp
    hacker_news: ASGIApp
    origin_warnings: OriginWarnings

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:  # type: ignore[override]  # no coroutine between
        if scope["type"] == "lifespan" or scope["path"] != PATH:
            return self._serve_other(scope, receive, send)
        headers = headers_of(scope)
        if b"origin" in headers:
            self.origin_warnings.check(headers[b"origin"], scope)
        if b"accept-encoding" in headers and b"gzip" in headers[b"accept-encoding"].lower():
            return self.compressed_endpoint(scope, receive, send)
        return self.cross_origin_endpoint(scope, receive, send)

    async def _serve_other(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_hacker_news = scope["type"] == "http" and scope["path"].startswith(hacker_news.PATH)
        try:
            await (self.hacker_news if is_hacker_news else super().__call__)(scope, receive, send)
        except Refused as refused:  # the server's connection raises it if too many responses are unread
            await documents.refusal(refused)(scope, receive, send)


def create(settings: Settings, limiter: ConnectionLimiter, worker: int = 1) -> Application:
    """
    The application of one process. `limiter` limits its connections; `worker` is the number of the process.

    `app.state` holds what the handlers of requests share; `_lifespan` adds what needs the store.
    """
    POOL.resize(settings.cache_mb * MEGABYTE)
    cors = cors_middleware(settings)
    compression = Middleware(Compression) if settings.compresses else None
    middleware = [each for each in (cors, compression) if each]
    app = Application(lifespan=partial(_lifespan, settings), middleware=middleware)
    app.state.rate_limiter = rate_limiter(settings)
    app.state.ended_sessions = EndedSessions()
    app.state.tokens = tokens = accepted_tokens(settings, app)
    app.state.public_url = PublicURL(settings.public_url, settings.proxies)
    app.state.cookie = session_cookie(settings, app.state.public_url)
    titles = PageTitles() if settings.fetch_titles == "on" else None
    app.state.contexts = Contexts(
        write_rates(settings), app.state.rate_limiter, Browsers(app.state.cookie), tokens, titles
    )
    app.state.log = stream = install_stream()
    app.state.observer = observer = CompositeObserver(Metrics(), Logs(settings, stream), open_spans())
    stream.on_dropped = observer.metrics.log_lines_dropped
    logging.getLogger().addHandler(Counting(observer.metrics.logged))
    limiter.on_change = observer.metrics.connections_of(worker)
    app.state.endpoint = endpoint = _endpoint(settings, app)
    app.state.site_name = settings.site_name
    app.state.orders_of_pages = settings.orders_of_pages
    app.state.front_doors = tokens.front_doors if tokens else []  # the issuers at which browsers can log in
    app.state.login_url = settings.login_url
    app.state.files = files_of(settings)
    app.state.languages = languages_of(settings, app.state.files)
    app.state.sitemaps = Sitemaps()
    app.state.cache_control = documents.cache_control(settings.cache_seconds)
    app.cross_origin_endpoint = cors.cls(endpoint, *cors.args, **cors.kwargs) if cors else endpoint.serve
    if settings.origins_with_cookies:
        app.cross_origin_endpoint = CrossOrigin(endpoint, cors, settings.origins_with_cookies, CORS_OPTIONS)
    app.compressed_endpoint = Compression(app.cross_origin_endpoint) if compression else app.cross_origin_endpoint
    app.hacker_news = hacker_news.application(app.state, [compression] if compression else [])
    app.origin_warnings = OriginWarnings(settings.origins)
    _add_routes(app, settings)
    return app


def _add_routes(app: Application, settings: Settings) -> None:
    app.router.routes += [
        *([Route("/schema.graphql", contract)] if settings.introspection == "on" else []),
        *health.routes(),
        *explorer.routes(PATH),
        *export.routes(),
        *(front_door.routes(has_page=settings.reader == "on") if app.state.tokens else []),
        *unsubscribing.routes(),
        *(site_serving.routes() if settings.reader == "on" else site_serving.security_routes()),
        *reader.routes(is_on=settings.reader == "on", endpoint=PATH),
    ]
    if settings.reader == "on" or settings.public_url:  # there are pages that feeds can link to
        app.router.routes += [*syndication.routes(), *sitemap.routes()]
    if settings.reader == "on":
        app.router.default = reader.not_found(app.router.default)
        app.router.redirect_slashes = False  # its redirects are absolute, and a proxy may have added a prefix


def _endpoint(settings: Settings, app: Application) -> Endpoint:
    """The GraphQL endpoint, with what the engine asks of this application as its options."""
    options = Options(
        trusted_documents=trusted_documents(settings),
        limits=document_limits(settings),
        max_body=max_request_bytes(),
        max_message=max_request_bytes(),
        rate_limiter=app.state.rate_limiter,
        only_trusted=settings.only_trusted == "on",
        allowed_origins=settings.origins,
        trusted_proxies=settings.proxies,
        ipv6_prefix=settings.ipv6_prefix,
        on_untrusted_proxy=forwarding_warnings(),
        observer=app.state.observer,
        viewer_key=attrgetter("token"),  # of a client: equal queries with the same token are executed once
        watch_session=app.state.ended_sessions.watch,
        while_subscribed=app.state.contexts.receiving_votes,
        event_id=event_id,
        explorer_path="explorer",  # relative, as a proxy may have added a prefix
        stats_header=STATS_HEADER,
        key_header=KEY_HEADER,
        visitor_header=VISITOR_HEADER,
        cookie=app.state.cookie,
        identify=app.state.tokens.identified if app.state.tokens else None,
        find_user=app.state.contexts.find_user,
        cache_seconds=settings.cache_seconds,
    )
    return Endpoint(SCHEMA, app.state.contexts.open, CODES, options)


def event_id(value: object) -> EventId | None:
    """
    The id of a value of a subscription: its cursor, at which the same subscription can go on.

    A checkpoint is a cursor that is sent now and then while nothing changes: an id only, without a result.
    """
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
    return any(os.environ.get(name) for name in SPAN_EXPORTER_VARIABLES)


def cors_middleware(settings: Settings) -> Middleware | None:
    """
    Middleware that sends CORS headers to the allowed origins; None if no origin is allowed. Without these headers
    browsers keep responses from pages of other origins.
    """
    origins = settings.origins
    if not origins:
        return None
    return Middleware(
        CORSMiddleware,
        allow_origins=origins.exact,
        allow_origin_regex=origins.regex,
        **CORS_OPTIONS,
    )


@asynccontextmanager
async def _lifespan(settings: Settings, app: Starlette) -> AsyncIterator[dict[str, asyncio.Event]]:
    """
    Open the store and the database, and run the work in the background as long as the application serves: it receives
    events, keeps what is cached current, completes what writes have begun in other partitions, fills indexes, trims the
    log, mirrors it into the database, moves old articles there, and sends webhooks and mails. Work that must not be
    done twice at a time is done by one of all processes.

    It yields the state that uvicorn passes to each request: the event that is set when the server stops.
    """
    check = app.state.text_check = text_check_of(settings, app.state.observer.metrics.text_checked)
    app.state.store = store = await open_store(settings, check=check)
    app.state.database = database = Database(settings.database) if settings.database else None
    app.state.memory = memory = StoreMemory(store.site, settings.redis_url or "")
    async with (
        # the events of votes are received only while a subscription needs them
        event_connection.connect(settings.redis_url or "", store.site, leaves_votes=True) as received,
        config.keep_current(store.site.rankings, store.site.redis, received),
        app.state.ended_sessions.checked(store, received),
        app.state.tokens.running(store, received) if app.state.tokens else nullcontext(),
        effects.completing(store.site),
        removals.removing(store.site),
        recent_comments.filling(store.site),
        home_indexes.filling(store.site),
        banned_texts.WORK.repeated(store, database),
        annulments.WORK.repeated(store, database),
        leaving.repeated(store, database),
        log.kept_trimmed(store.site, settings.log_seconds * 1000, settings.log_entries, effects.removable),
        shared_rates.synchronized(app.state.rate_limiter, store),
        app.state.observer.metrics.measuring_caches(),
        memory.watched(),
        mirroring(database, store.site),
        archiving_old(
            database,
            store.site,
            HotLimits(
                articles=settings.hot_articles, articles_per_user=settings.hot_articles_per_user, days=settings.hot_days
            ),
        ),
        sending(store.site, database if settings.webhooks == "on" else None, app.state.observer.metrics.webhook_tried),
        sending_mails(
            settings, store, database, app.state.languages.named(code=None), app.state.observer.metrics.mail_tried
        ),
    ):
        app.state.contexts.use(store, Live(store, received, settings.rate_ranking_places, database), database)
        collect_garbage_less_often()
        shorten_thread_switches()
        with received.subscribed(app.state.sitemaps.outdate, STATES):
            yield {STOPPING: asyncio.Event()}
    await store.close()
    if check:
        await check.close()
    if app.state.observer.spans:
        await asyncio.to_thread(app.state.observer.spans.close)
    await asyncio.to_thread(app.state.log.drain)


def collect_garbage_less_often() -> None:
    """Requests leave next to no reference cycles. Objects that exist at start are never collected."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)  # by default Python looks for cycles many times as often


def shorten_thread_switches() -> None:
    """
    Threads that compute, such as the one that writes the database, give way to the event loop after one millisecond.
    The loop waits for them several times in each request: with Python's default of five milliseconds, a page would take
    tens of milliseconds longer.
    """
    sys.setswitchinterval(0.001)


def accepted_tokens(settings: Settings, app: Application) -> AcceptedTokens | None:
    """
    What accepts the tokens of the issuers (services outside at which users log in) in the file that `UPVOTE_ISSUERS`
    names; None if it names none.

    Raises:
        WrongSetting: the file, or a key that it names, cannot be read, or is not as it should be.
    """
    found = issuers_of(settings)
    if found is None:
        return None
    tokens = AcceptedTokens(found, app.state.rate_limiter)
    # what is open with tokens whose key was withdrawn is closed
    tokens.on_revoked = partial(app.state.ended_sessions.end_forgotten, tokens.remembered)
    return tokens


async def contract(request: Request) -> Response:
    """The printed schema; 304 if the client has this very one."""
    headers = {"ETag": CONTRACT_TAG, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match", "").removeprefix("W/") == CONTRACT_TAG.removeprefix("W/"):
        return Response(status_code=304, headers=headers)
    return Response(CONTRACT, media_type="text/plain; charset=utf-8", headers=headers)
