"""The whole application in the process of a test, and a client whose requests go to it without a socket."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx

from server.app import Application, create
from server.http.connections import ConnectionLimiter
from server.settings import Settings
from tests.server.commands import own_data_dir


@asynccontextmanager
async def serving(
    redis_url: str, *, path: str = "/", headers: Mapping[str, str] | None = None, **settings: Any
) -> AsyncIterator[httpx.AsyncClient]:
    """
    A client of an application without limits of rates, unless `settings` have them, and with an empty data directory.
    The client sends `headers` with each request.
    """
    given = {"rate_limits": "off", "data_dir": own_data_dir()} | settings
    app = create(Settings(redis_url=redis_url, **given), ConnectionLimiter())
    async with client_of(app, path, headers) as http:
        yield http


@asynccontextmanager
async def client_of(
    app: Application, path: str = "/", headers: Mapping[str, str] | None = None
) -> AsyncIterator[httpx.AsyncClient]:
    """
    Run an application, and yield a client of it, whose URLs are below `path`. For a fault of the application, the
    client gets the response and not the exception.
    """
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    url = f"http://up{path}"
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url=url, headers=headers) as http,
    ):
        yield http
