"""The application: the GraphQL endpoint, the explorer, the contract file, the health of process and store."""

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
from schema.contract import FILE, SCHEMA
from server import explorer
from server.settings import Settings, read_settings
from server.wire import Client, Endpoint
from store.errors import StoreUnavailable
from store.stores import Store

CODES: dict[type[Exception], str] = {BadInput: "BAD_USER_INPUT", StoreUnavailable: "UNAVAILABLE"}
CONTRACT = FILE.read_text()
CONTRACT_TAG = f'"{sha256(CONTRACT.encode()).hexdigest()[:16]}"'


def from_environment() -> Starlette:
    """The application as each worker process makes it."""
    return create(read_settings())


def create(settings: Settings) -> Starlette:
    app = Starlette(lifespan=partial(_lifespan, settings))
    endpoint = Endpoint(SCHEMA, partial(_open_context, app), CODES)
    app.router.routes += [
        Route("/graphql", endpoint),
        WebSocketRoute("/graphql", endpoint),
        Route("/schema.graphql", contract),
        Route("/healthz", healthz),
        Route("/readyz", readyz),
        *explorer.routes("/graphql"),
    ]
    return app


@asynccontextmanager
async def _lifespan(settings: Settings, app: Starlette) -> AsyncIterator[None]:
    app.state.store = await open_store(settings)
    yield
    await app.state.store.close()


async def open_store(settings: Settings) -> Store:
    assert settings.redis_url is not None, "whoever starts us has started our own Valkey, or was given another"
    return await Store.open(
        settings.redis_url, settings.policy, settings.partitions, session_lifetime=settings.session_ttl
    )


def _open_context(app: Starlette, client: Client) -> Context:
    return Context(app.state.store, client.token)


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
