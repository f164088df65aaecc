"""A receiver of webhooks, as somebody would write it with the library of Standard Webhooks, and ways to run senders."""

import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook as Verifier
from standardwebhooks import WebhookVerificationError

from database import webhooks
from database.database import Database
from database.webhooks import Backlog, Webhook
from resolvers.changes import newest_position, parse_cursor
from server.signatures import new_secret
from server.webhooks.messages import SENT_KINDS
from server.webhooks.running import Webhooks
from store import log
from store.store import Store
from tests.server.checking import body, nothing

Answer = Callable[[BaseHTTPRequestHandler], None]
REFUSAL = body(b"", 400)
HOUR, DAY = 3_600, 86_400  # seconds


class Receiver(ThreadingHTTPServer):
    """
    `taken` has the messages that were answered with success, in their order, `refused` all others with the right
    signature; `forged` counts the rest. `answers` has what is answered to messages about a subject, by its id. For
    other subjects, `choose` gives the answer: `answer`, unless a test replaces it.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.secrets: list[str] = []
        self.taken: list[dict[str, Any]] = []
        self.refused: list[dict[str, Any]] = []
        self.forged = 0
        self.most_at_once = self.at_once = 0
        self.lock = threading.Lock()
        self.choose: Callable[[], Answer] = lambda: self.answer
        self.answer: Answer = nothing
        self.answers: dict[str, Answer] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook?of=changes"

    @property
    def kinds(self) -> list[str]:
        return [each["type"] for each in self.taken]

    def verified(self, content: bytes, headers: dict[str, str]) -> dict[str, Any] | None:
        for secret in self.secrets:
            with suppress(WebhookVerificationError):
                message: dict[str, Any] = Verifier(secret).verify(content, headers)
                return message | {"id": headers["webhook-id"]}
        return None

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that do not wait for the whole answer are part of the tests."""


class Handler(BaseHTTPRequestHandler):
    server: Receiver
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        content, receiver = self.rfile.read(length := int(self.headers["content-length"])), self.server
        if len(content) < length:  # the sender was killed
            self.close_connection = True
            return
        with receiver.lock:
            receiver.at_once += 1
            receiver.most_at_once = max(receiver.most_at_once, receiver.at_once)
            message = receiver.verified(content, {name.lower(): value for name, value in self.headers.items()})
            if message is None or self.path != "/hook?of=changes":
                receiver.forged += 1
                answer = REFUSAL
            else:
                answer = receiver.answers.get(message["data"]["subjectId"]) or receiver.choose()
                (receiver.taken if answer is nothing else receiver.refused).append(message)
        try:
            answer(self)
        finally:
            with receiver.lock:
                receiver.at_once -= 1

    def do_GET(self) -> None:
        self.server.forged += 1
        nothing(self)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@contextmanager
def receiving() -> Iterator[Receiver]:
    with Receiver() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield running
        finally:
            running.shutdown()
            thread.join()


@dataclass
class Site:
    """A store, its database, and a process that sends webhooks. `results` has a word for each try."""

    store: Store
    database: Database
    results: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.process = Webhooks(self.store.site, self.database, self.results.append)

    async def add(
        self,
        receiver: Receiver,
        kinds: Sequence[str] = tuple(SENT_KINDS),
        *,
        url: str = "",
        allows_private: bool = True,
    ) -> int:
        """Add a webhook as the command does."""
        position, secret = await newest_position(self.store.site), new_secret()
        given = (url or receiver.url, kinds, allows_private, secret, self.store.site.clock(), position.cursor)
        id, _ = await self.database.write(webhooks.add, *given)
        receiver.secrets.append(secret)
        return id

    async def send(self) -> None:
        """Take all changes, and send until nothing is due."""
        await self.process.turn()
        if self.process.sender:
            await self.process.sender.idle()

    async def waiting(self) -> int:
        return sum(waiting.count for _, waiting in await self.database.run(webhooks.states))

    async def fault(self, id: int) -> str | None:
        """Why a webhook is off, or why a message that waits for it was not taken."""
        hook, waiting = await self._state(id)
        return hook.fault or waiting.fault

    async def off_at(self, id: int) -> int | None:
        return (await self._state(id))[0].off_at

    async def _state(self, id: int) -> tuple[Webhook, Backlog]:
        return next(each for each in await self.database.run(webhooks.states) if each[0].id == id)


@asynccontextmanager
async def sending(store: Store, database: Database) -> AsyncIterator[Site]:
    site = Site(store, database)
    try:
        yield site
    finally:
        await site.process.close()


def place(message: dict[str, Any]) -> list[tuple[int, int]]:
    """The key by which messages are sorted as their entries are in the log."""
    return [log.sort_key(id) for id in parse_cursor(message["data"]["cursor"]).ids]


def without_repeats(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each message once, where it came first."""
    return list({each["id"]: each for each in reversed(messages)}.values())[::-1]


def about(receiver: Receiver, number: int) -> list[dict[str, Any]]:
    """The messages about an article that a receiver has taken."""
    return [each for each in receiver.taken if each["data"]["subjectId"] == f"article:{number}"]
