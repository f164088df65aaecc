"""An application that accepts the tokens of an issuer, which is an identity provider, by the clock of the test."""

from contextlib import asynccontextmanager

import pytest

from server.app import create
from server.http.connections import ConnectionLimiter
from server.settings import Settings
from tests.server import in_process
from tests.server.issuers import issuing


@pytest.fixture
def serve(redis_url, clock):
    """A function that opens a client of an application with a file of issuers."""

    @asynccontextmanager
    async def serve(file, **settings):
        given = {"rate_limits": "off", "issuers": file} | settings
        app = create(Settings(redis_url=redis_url, **given), ConnectionLimiter())
        async with in_process.client_of(app) as http:
            object.__setattr__(app.state.store.site, "clock", clock)  # a frozen record
            http.app = app
            yield http

    return serve


@pytest.fixture
async def http(serve, tmp_path):
    async with serve(issuing.written(tmp_path)) as http:
        yield http
