"""
A mail server that takes mails as a real one does, or refuses them as a test tells it, and a `Mailer`, which sends the
mails of a store to it.
"""

import email
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.policy import default
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from database.database import Database
from server.mails.letters import Letters
from server.mails.running import Mails
from server.mails.sender import MailRates, MailSender
from server.mails.smtp import MailConnection
from server.words.languages import languages
from store.store import Store
from tests.servers import free_port

URL = "https://up.example"
FROM = ("Upvote", "noreply@up.example")
UNLIMITED = None  # instead of the `MailRates` of a sender
TIME_LIMIT = 2.0  # seconds for each step of the server
LINK = re.compile(re.escape(URL) + r"/(confirm|reset|settings|unsubscribe)[#/](\S+)")

Answer = Callable[[str], str | None]  # by the address of a recipient, what the server says instead of 250


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail that the server has received."""

    to: str
    message: EmailMessage

    @property
    def text(self) -> str:
        return self._part("plain")

    @property
    def html(self) -> str:
        return self._part("html")

    @property
    def links(self) -> dict[str, list[str]]:
        """The tokens of the links in the text, by what they are for."""
        found: dict[str, list[str]] = {}
        for purpose, token in LINK.findall(self.text):
            found.setdefault(purpose, []).append(token)
        return found

    def _part(self, kind: str) -> str:
        part = self.message.get_body((kind,))
        assert isinstance(part, EmailMessage)
        return str(part.get_content())


@dataclass
class MailServer:
    """
    `received` are the mails that it has taken, `offered` the addresses of all recipients that it was asked to take.
    `on_recipient` and `on_data` may give another answer than 250, by the address of the recipient; if `on_data` gives
    "", the mail is received, and the connection closed instead of an answer.
    """

    port: int = field(default_factory=free_port)
    received: list[Mail] = field(default_factory=list)
    offered: list[str] = field(default_factory=list)
    on_recipient: Answer = lambda address: None
    on_data: Answer = lambda address: None

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.port}"

    def taken(self) -> list[Mail]:
        """What was received since this was called last."""
        taken, self.received = self.received, []
        return taken

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        self.offered.append(address)
        if refusal := self.on_recipient(address):
            return refusal
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        (to,) = envelope.rcpt_tos
        answer = self.on_data(to)
        if answer:
            return answer
        assert isinstance(envelope.content, bytes)
        self.received.append(Mail(to, email.message_from_bytes(envelope.content, policy=default)))
        if answer == "":
            server.transport.abort()
        return "250 OK"


@contextmanager
def mail_server(server: MailServer | None = None, **options: Any) -> Iterator[MailServer]:
    """A running mail server. `options` are those of aiosmtpd."""
    server = server or MailServer()
    controller = Controller(server, hostname="127.0.0.1", port=server.port, **options)
    controller.start()
    try:
        yield server
    finally:
        controller.stop()


@dataclass
class Mailer:
    """Sends the mails of a store when a test says so. `results` are the words that metrics get for each mail."""

    work: Mails
    results: list[str]

    async def turn(self) -> None:
        await self.work.turn()


@asynccontextmanager
async def mailer(
    store: Store,
    url: str,
    rates: MailRates | None = UNLIMITED,
    database: Database | None = None,
    language: str = "en",
) -> AsyncIterator[Mailer]:
    results: list[str] = []
    letters = Letters(store, database, URL, FROM, "Upvote", languages({}, language).named(code=None))
    work = Mails(
        store.site, MailSender(store.site, letters, MailConnection(url, FROM[1], TIME_LIMIT), rates, results.append)
    )
    yield Mailer(work, results)
    await work.close()
