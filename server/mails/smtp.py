"""
The mail server: its address, and a connection over which one mail after the other is handed to it.

A mail is handed over in two steps: it is offered, with its sender and its recipient (MAIL, RCPT), and then sent (DATA).
In between the caller takes it out of its queue. So it is never sent twice, and stays there as long as the server does
not take its recipient.
"""

import ssl
from asyncio import IncompleteReadError
from contextlib import suppress
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from aiosmtplib import (
    SMTP,
    SMTPConnectError,
    SMTPDataError,
    SMTPException,
    SMTPRecipientRefused,
    SMTPResponseException,
    SMTPServerDisconnected,
    SMTPTimeoutError,
)

PORTS = {"smtp": 587, "smtps": 465}
TIME_LIMIT = 15.0  # seconds for each step of the server
PERMANENT = range(500, 600)  # codes of answers that say no for good; others say not now


class SmtpUrl(NamedTuple):
    """The parts of the URL of a mail server."""

    host: str
    port: int
    username: str | None
    password: str | None
    uses_tls: bool

    @property
    def needs_starttls(self) -> bool:
        """Whether a connection without TLS must not go on: it would show the password to others."""
        return self.username is not None and not self.uses_tls and not _is_loopback(self.host)


class Unavailable(Exception):
    """The server does not answer, or takes no mail at all now. The message has no address."""


class Interrupted(Unavailable):
    """The server does not answer when it gets the recipient of a mail, which may be the reason."""


class Deferred(Exception):
    """The server does not take this mail now."""


class AddressRefused(Exception):
    """The server says that there is no such recipient, for good."""


class MailRefused(Exception):
    """The server does not take this mail, for good."""


class Uncertain(Exception):
    """The connection was lost when the mail was sent: it may have arrived or not."""


def parse(url: str) -> SmtpUrl:
    """
    Raises:
        ValueError: it is no URL of a mail server.
    """
    parts = urlsplit(url)
    if parts.scheme not in PORTS or not parts.hostname or parts.path not in ("", "/") or parts.query or parts.fragment:
        raise ValueError("a mail server is smtp://HOST:PORT or smtps://HOST:PORT, with USER:PASSWORD@ before the host")
    if (parts.username is None) != (parts.password is None):
        raise ValueError("a mail server has both a user and a password, or neither")
    username, password = (None if each is None else unquote(each) for each in (parts.username, parts.password))
    return SmtpUrl(parts.hostname, parts.port or PORTS[parts.scheme], username, password, parts.scheme == "smtps")


class MailConnection:
    """A connection that is opened when it is needed, and kept until it is closed or lost."""

    def __init__(self, url: str, sender: str, time_limit: float = TIME_LIMIT) -> None:
        self._url, self._sender, self._time_limit = parse(url), sender, time_limit
        self._smtp: SMTP | None = None
        self._has_offered = False

    async def offer(self, recipient: str) -> None:
        """
        Name the sender and the recipient of a mail, which is sent or taken back next.

        Raises:
            Unavailable: the server takes no mail now; Interrupted if this mail may be the reason.
            Deferred, AddressRefused: the server does not take it.
        """
        if self._has_offered:
            await self.take_back()
        smtp = await self._opened()
        self._has_offered = True
        try:
            await smtp.mail(self._sender)
        except (SMTPException, OSError) as fault:
            await self.close()
            raise Unavailable(_reason(fault)) from None
        try:
            await smtp.rcpt(recipient)
        except SMTPRecipientRefused as refused:
            await self.take_back()
            raise (AddressRefused if refused.code in PERMANENT else Deferred)(_reason(refused)) from None
        except (SMTPException, OSError) as fault:
            await self.close()
            raise Interrupted(_reason(fault)) from None

    async def send(self, message: bytes) -> None:
        """
        Send the mail that was offered.

        Raises:
            Deferred, MailRefused: the server says that it has not taken it.
            Uncertain: it says nothing.
        """
        assert self._smtp, "the mail was offered before"
        self._has_offered = False
        try:
            await self._smtp.data(message)
        except SMTPDataError as refused:
            await self.take_back()
            raise (MailRefused if refused.code in PERMANENT else Deferred)(_reason(refused)) from None
        except (SMTPException, OSError) as fault:
            await self.close()
            raise Uncertain(_reason(fault)) from None

    async def take_back(self) -> None:
        """End what was offered. A connection on which that fails is closed."""
        self._has_offered = False
        try:
            if self._smtp:
                await self._smtp.rset()
        except (SMTPException, OSError):
            await self.close()

    async def close(self) -> None:
        smtp, self._smtp, self._has_offered = self._smtp, None, False
        if smtp:
            with suppress(SMTPException, OSError):
                await smtp.quit(timeout=1)
            smtp.close()

    async def _opened(self) -> SMTP:
        """The open connection. Raises Unavailable."""
        if self._smtp and self._smtp.is_connected:
            return self._smtp
        url = self._url
        smtp = SMTP(
            hostname=url.host,
            port=url.port,
            username=url.username,
            password=url.password,
            use_tls=url.uses_tls,
            start_tls=False if url.uses_tls else True if url.needs_starttls else None,  # None: if the server offers it
            timeout=self._time_limit,
            tls_context=ssl.create_default_context(),
        )
        try:
            await smtp.connect()
        except (SMTPException, OSError, IncompleteReadError, ValueError) as fault:
            raise Unavailable(_reason(fault)) from None
        self._smtp = smtp
        return smtp


def _reason(fault: Exception) -> str:
    """What has happened, without the text of the server, which may have the address."""
    match fault:
        case SMTPResponseException(code=code):
            return f"it has answered {code}"
        case SMTPTimeoutError() | TimeoutError():
            return "it does not answer in time"
        case SMTPConnectError(message=text):
            return text
        case SMTPServerDisconnected():
            return "it has closed the connection"
        case ssl.SSLError(reason=reason):
            return f"TLS failed: {reason}"
        case OSError(strerror=text) if text:
            return text
        case _:
            return type(fault).__name__


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
