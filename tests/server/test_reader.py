import asyncio
import gzip
import json
import re
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from server import reader
from tests import programs
from tests.server.conftest import ROOT, serving

SOURCES = ROOT / "reader"
MAX_SCRIPT = 100_000  # bytes, compressed: what the first page loads
HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
SCRIPT = re.compile(r'<(?:script|link)[^>]* (?:src|href)="(\./reader/[^"]+)"')
IMPORTED = re.compile(r'"\./([\w.-]+\.js)"')


@pytest.fixture
async def client():
    async with client_of(application(is_on=True)) as client:
        yield client


def application(is_on):
    app = Starlette(routes=reader.routes(is_on))
    if is_on:
        app.router.default = reader.not_found(app.router.default)
    return app


def client_of(app):
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://upvote", headers=HTML)
