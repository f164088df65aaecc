"""The application: the GraphQL endpoint, the explorer, the contract file, metrics, the health of process and store."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from hashlib import sha256

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute

from resolvers.context import Context
from resolvers.errors import BadInput
from resolvers.live import Live
from resolvers.rates import WriteRates
from schema.contract import FILE, SCHEMA
from server import explorer, guards, logs, sharing, tracing
from server.logs import Logs
from server.metrics import Metrics
from server.settings import Settings, WrongSetting, read_settings
from server.watching import Watch
from server.wire import Client, Endpoint, read_trusted_documents
from store import events
from store.errors import NotFound, StoreUnavailable, Unauthenticated
from store.stores import Store

CODES: dict[type[Exception], str] = {
    BadInput: "BAD_USER_INPUT",
    NotFound: "NOT_FOUND",
    StoreUnavailable: "UNAVAILABLE",
    Unauthenticated: "UNAUTHENTICATED",
}
CONTRACT = FILE.read_text()
CONTRACT_TAG = f'"{sha256(CONTRACT.encode()).hexdigest()[:16]}"'


def from_environment() -> Starlette:
    """The application as each worker process makes it."""
    settings = read_settings()
    logs.configure(settings)
    return create(settings)


def create(settings: Settings) -> Starlette:
    app = Starlette(lifespan=partial(_lifespan, settings), middleware=guards.pages_of_others(settings))
    app.state.rates = rates = guards.rates(settings)
    app.state.watch = watch = Watch(Metrics(), Logs(settings), tracing.from_environment())
    endpoint = Endpoint(
        SCHEMA,
        partial(_open_context, app, guards.write_rates(settings)),
        CODES,
        trusted=trusted_documents(settings),
        limits=guards.limits(settings),
        rates=rates,
        only_trusted=settings.only_trusted == "on",
        allowed_origins=settings.origins,
        trusted_proxies=settings.proxies,
        observer=watch,
    )
    app.router.routes += [
        Route("/graphql", endpoint),
        WebSocketRoute("/graphql", endpoint),
        Route("/schema.graphql", contract),
        Route("/healthz", healthz),
        Route("/readyz", readyz),
        Route("/metrics", watch.metrics.scrape),
        *explorer.routes("/graphql"),
    ]
    return app


@asynccontextmanager
async def _lifespan(settings: Settings, app: Starlette) -> AsyncIterator[None]:
    app.state.store = store = await open_store(settings)
    listening = events.listening(settings.redis_url or "", store.site.partitions)
    async with listening as heard, sharing.shared(app.state.rates, store):
        app.state.live = Live(store, heard)
        _collect_less()
        yield
    await store.close()
    await asyncio.to_thread(app.state.watch.tracing.close)


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


async def open_store(settings: Settings, *, strict: bool = True) -> Store:
    assert settings.redis_url is not None, "whoever starts us has started our own Valkey, or was given another"
    return await Store.open(
        settings.redis_url,
        settings.policy,
        settings.partitions,
        session_lifetime=settings.session_ttl,
        confirming=settings.confirming_replicas,
        cached=settings.cache,
        strict=strict,
    )


def _open_context(app: Starlette, rates: WriteRates | None, client: Client) -> Context:
    return Context(app.state.store, client.token, app.state.live, client.address if rates else None, rates)


async def contract(request: Request) -> Response:
    headers = {"ETag": CONTRACT_TAG, "Cache-Control": "no-cache"}
    if request.headers.get("if-none-match") == CONTRACT_TAG:
        return Response(status_code=304, headers=headers)
    return Response(CONTRACT, media_type="text/plain; charset=utf-8", headers=headers)


async def healthz(request: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def readyz(request: Request) -> Response:
    try:
        await request.app.state.store.site.connection.ping()
    except StoreUnavailable:
        return JSONResponse({"status": "unavailable", "store": "does not answer"}, status_code=503)
    return JSONResponse({"status": "ok", "store": "answers"})
