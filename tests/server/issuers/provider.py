"""An identity provider on a loopback port, which tests change while servers ask it."""

import asyncio
import json
import secrets
import time
from base64 import b64encode, urlsafe_b64encode
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from time import monotonic
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from tests.server.issuers import issuing
from tests.server.issuers.issuing import RSA, Tokens


@dataclass
class Asked:
    """A request that the provider has received."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    form: dict[str, str]


Answer = tuple[int, str, dict[str, str]]  # status, body, headers


@dataclass
class Provider:
    """
    Answers OpenID discovery, and `/keys` with the set of its keys. `status` is that of all answers, and `pause` the
    seconds before each. `asked` counts the requests of each path, and `asked_at` has the path and the time of each.
    `routes` answer further paths. `caching` is the header Cache-Control, and `body` stands in for the set of `keys`.
    """

    keys: list[Any] = field(default_factory=lambda: [RSA])
    caching: str | None = None
    status: int = 200
    pause: float = 0
    body: str | None = None
    asked: Counter[str] = field(default_factory=Counter)
    asked_at: list[tuple[str, float]] = field(default_factory=list)
    routes: dict[str, Callable[[Asked], Answer]] = field(default_factory=dict)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def table(self, **more: Any) -> dict[str, Any]:
        """This provider as a table of the file of issuers."""
        discovery = f"{self.url}/.well-known/openid-configuration"
        plain = {"name": "site", "issuer": self.url, "audience": "upvote", "algorithms": ["RS256"], "private": True}
        return plain | {"discovery": discovery, "claims": {"name": "name"}} | more

    def tokens(self, now: float, key: Any = None) -> Tokens:
        return Tokens({"iss": self.url, "aud": "upvote"}, key or self.keys[0], now=now)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            asked = await _read(reader)
            self.asked[asked.path] += 1
            self.asked_at.append((asked.path, monotonic()))
            await asyncio.sleep(self.pause)
            status, body, headers = self._answer(asked)
            lines = [f"HTTP/1.1 {status} OK", *(f"{name}: {value}" for name, value in headers.items())]
            head = "\r\n".join([*lines, f"Content-Length: {len(body.encode())}", "Connection: close", "", ""])
            writer.write(head.encode() + body.encode())
            await writer.drain()
        finally:
            writer.close()

    def _answer(self, asked: Asked) -> Answer:
        headers = {"Cache-Control": self.caching} if self.caching else {}
        if self.status != 200:
            return self.status, "away", headers
        if asked.path == "/.well-known/openid-configuration":
            ends = {f"{name}_endpoint": f"{self.url}/{name}" for name in ("authorization", "token")}
            return 200, json.dumps({"issuer": self.url, "jwks_uri": f"{self.url}/keys", **ends}), headers
        if asked.path == "/keys":
            return 200, self.body or issuing.key_set(*self.keys), headers
        if asked.path in self.routes:
            return self.routes[asked.path](asked)
        return 404, "", headers


async def _read(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.rstrip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    body = (await reader.readexactly(int(headers.get("content-length", 0)))).decode()
    parts = urlsplit(target)
    query, form = ({name: values[0] for name, values in parse_qs(text).items()} for text in (parts.query, body))
    return Asked(method, parts.path, query, headers, form)


@asynccontextmanager
async def running(**options: Any) -> AsyncIterator[Provider]:
    provider = Provider(**options)
    server = await asyncio.start_server(provider.serve, "127.0.0.1", provider.port)
    provider.port = server.sockets[0].getsockname()[1]
    async with server:
        yield provider


class Users:
    """
    The pages where users of a provider log in: it logs in whoever comes as the subject `ada`, for the client `door`,
    which is Upvote, and gives an ID token for a code, once. The token also has `claims`, and is signed by `key`, or
    else by the first key of the provider. `codes` has the parameters of each request for a code, by that code.
    """

    def __init__(self, provider: Provider, secret: str | None = None) -> None:
        self.provider, self.secret, self.key = provider, secret, None
        self.codes: dict[str, dict[str, str]] = {}
        self.claims: dict[str, Any] = {}
        provider.routes = {"/authorization": self.authorize, "/token": self.exchange}

    def authorize(self, asked: Asked) -> Answer:
        code = secrets.token_urlsafe(8)
        self.codes[code] = asked.query
        back = urlencode({"code": code, "state": asked.query["state"], "iss": self.provider.url})
        return 302, "", {"Location": f"{asked.query['redirect_uri']}?{back}"}

    def exchange(self, asked: Asked) -> Answer:
        form = asked.form
        given = self.codes.pop(form.get("code"), None)
        challenge = urlsafe_b64encode(sha256(form.get("code_verifier", "").encode()).digest()).decode().rstrip("=")
        pair = b64encode(f"door:{quote(self.secret or '', safe='')}".encode()).decode()  # as RFC 6749 asks for
        is_known = self.secret is None or asked.headers.get("authorization") == f"Basic {pair}"
        is_same = given and given["redirect_uri"] == form["redirect_uri"] and given["client_id"] == form["client_id"]
        if not is_same or given["code_challenge"] != challenge or not is_known or asked.method != "POST":
            return 400, '{"error": "invalid_grant"}', {}
        claims = {"aud": "door", "name": "Ada", "nick": "Countess", "nonce": given["nonce"]} | self.claims
        token = self.provider.tokens(time.time(), self.key).token("ada", **claims)
        return 200, json.dumps({"id_token": token, "access_token": "opaque"}), {}
