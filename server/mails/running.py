"""Sends mails as long as a server runs, in one of all its processes."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import NoReturn

from database.database import Database, DatabaseUnavailable
from server import setting_checks
from server.mails.sender import MailRates, MailSender
from server.mails.smtp import MailConnection, Unavailable
from server.settings import Settings
from server.words.words import Words
from store import mails
from store.background import running
from store.errors import StoreError, StoreUnavailable
from store.leases import Lease
from store.site import Site
from store.store import Store

# The process that holds the lease sends mails. Another can take it so many milliseconds after it was extended last.
LEASE, LEASE_TIME = "mails", 3_000
AT_ONCE = 50  # mails that are read from the queue in one round trip
IDLE = 1.0  # seconds between two reads of the queue
RETRY_PAUSE = 10.0  # seconds after a fault of the mail server or the store
CLOSING_TIME = 2.0  # seconds in which the mail that is being sent may end when the server stops

logger = logging.getLogger("upvote")


class Mails:
    """What one process does for mails while it has the lease."""

    def __init__(self, site: Site, sender: MailSender) -> None:
        self._site, self._sender = site, sender
        self._lease = Lease(site, LEASE, LEASE_TIME)

    async def turn(self) -> bool:
        """
        Send what is due. Returns whether there may be more. Two round trips if nothing is.

        Raises:
            Unavailable: the mail server takes nothing now.
            StoreUnavailable, DatabaseUnavailable.
        """
        if not await self._lease.extend():
            return False
        found = await mails.due(self._site, AT_ONCE)
        for waiting in found:
            if not await self._lease.extend():
                return False
            await self._sender.send(waiting)
        if not found:
            await self._sender.close()  # mail servers end idle connections anyway
        return len(found) == AT_ONCE

    async def close(self) -> None:
        await self._sender.close()
        await self._lease.end()


@asynccontextmanager
async def sending_mails(
    settings: Settings, store: Store, database: Database | None, words: Words, on_result: Callable[[str], None]
) -> AsyncIterator[None]:
    """
    Send mails in the background, as long as the context is open, if there is a mail server. `on_result` gets a word for
    what became of each, for the metrics.
    """
    if settings.smtp_url is None:
        yield
        return
    async with running(_send(Mails(store.site, _sender(settings, store, database, words, on_result)))):
        yield


def _sender(
    settings: Settings, store: Store, database: Database | None, words: Words, on_result: Callable[[str], None]
) -> MailSender:
    from server.mails.letters import Letters  # slow, as are templates and the e-mail package

    assert settings.smtp_url and settings.mail_from and settings.public_url, "the settings have been checked"
    sender = setting_checks.sender(settings.mail_from)
    _, address = sender
    letters = Letters(store, database, settings.public_url, sender, settings.site_name, words)
    rates = MailRates(an_hour=settings.rate_mails, a_day=settings.rate_mails_a_day, of_site=settings.mails_a_day)
    limits = rates if settings.rate_limits == "on" else None
    return MailSender(store.site, letters, MailConnection(settings.smtp_url, address), limits, on_result)


async def _send(work: Mails) -> NoReturn:
    """Take turns for ever. A fault that lasts is logged once."""
    fault = ""
    try:
        while True:
            pause = IDLE
            try:
                if await work.turn():
                    pause = 0
                fault = ""
            except (Unavailable, StoreUnavailable, DatabaseUnavailable) as error:
                pause, reported, fault = RETRY_PAUSE, fault, str(error)
                if fault != reported:
                    logger.warning("no mail is sent: %s", fault)
            except Exception:  # the task must not end
                pause = RETRY_PAUSE
                logger.exception("sending mails failed")
            await asyncio.sleep(pause)
    finally:
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(CLOSING_TIME):
                await work.close()
