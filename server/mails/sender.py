"""
Sends the mails that are due, one after the other. A mail is taken out of the queue once the mail server has accepted
its recipient (RCPT TO), and then sent. So it is never sent twice; it is lost if the process or the connection ends in
between.

What the server refuses for now is tried again for a day.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from database.database import DatabaseUnavailable
from server.mails.letters import Letter, Letters
from server.mails.smtp import AddressRefused, Deferred, Interrupted, MailConnection, MailRefused, Unavailable, Uncertain
from store import mailboxes, mails
from store.errors import StoreUnavailable
from store.mails import WaitingMail
from store.rate_limits import Attempts, SlidingWindow
from store.site import Site

MINUTE = 60_000  # milliseconds
PAUSES = tuple(minutes * MINUTE for minutes in (1, 5, 15, 30, 60))  # between two tries; the last again and again
PATIENCE = 24 * 60 * MINUTE  # milliseconds since a mail was due, after which it is given up
HOUR, DAY = 60 * 60, 24 * 60 * 60  # seconds, as windows of rate limits have

logger = logging.getLogger("upvote")


@dataclass(frozen=True, slots=True)
class MailRates:
    """
    How many mails go to an address and to a user in an hour and in a day, and from the site in a day. Mails of
    replies may use all but one of the mails to an address, so that a link for a forgotten password does not wait for
    them.
    """

    an_hour: int
    a_day: int
    of_site: int

    def windows(self, letter: Letter) -> tuple[list[SlidingWindow], list[SlidingWindow]]:
        """
        Two lists of sliding windows, in which sent mails are counted: those that must all have room, or the mail waits;
        and those that count the mail only if they have room.
        """
        address = mailboxes.digest(letter.to)
        needed = [SlidingWindow(("mail", "site"), DAY, self.of_site), *self._windows("to", address)]
        for name in letter.usernames:
            needed += self._windows("user", name.lower())
        of_replies = self._windows("replies to", address, kept=1)
        is_mail_of_replies = bool(letter.unsubscribing)  # no other mails can be ended by a link
        return ([*needed, *of_replies], []) if is_mail_of_replies else (needed, of_replies)

    def _windows(self, scope: str, subject: str, kept: int = 0) -> list[SlidingWindow]:
        """The windows of an hour and of a day. `kept` mails of each limit are left to other mails."""
        limits = ((HOUR, self.an_hour), (DAY, self.a_day))
        return [SlidingWindow(("mail", scope, subject), span, max(1, limit - kept)) for span, limit in limits]


class MailSender:
    """`rates` is None if nothing is limited. `on_result` gets a word for what became of each mail, for the metrics."""

    def __init__(
        self,
        site: Site,
        letters: Letters,
        connection: MailConnection,
        rates: MailRates | None,
        on_result: Callable[[str], None],
    ) -> None:
        self._site, self._letters, self._connection, self._rates = site, letters, connection, rates
        self._attempts, self._on_result = Attempts(site), on_result
        self._current: asyncio.Task[None] | None = None

    async def send(self, waiting: WaitingMail) -> None:
        """
        Send a mail that is due; put it off if it cannot be sent now, and drop it if there is nothing to say any more.
        Some six round trips.

        Raises:
            Unavailable: the mail server takes nothing now.
            StoreUnavailable, DatabaseUnavailable.
        """
        self._current = asyncio.create_task(self._send(waiting))
        await asyncio.shield(self._current)

    async def close(self) -> None:
        """End the connection, after the mail that is being sent."""
        if self._current:
            await asyncio.wait([self._current])
        await self._connection.close()

    async def _send(self, waiting: WaitingMail) -> None:
        """Send or drop a mail. If this program has a fault, the mail is put off."""
        try:
            letter = await self._letters.prepare(waiting)
            if letter is None:
                await mails.take(self._site, waiting, about=list(waiting.about))
                self._on_result("dropped")
            else:
                await self._send_within_limits(waiting, letter)
        except (Unavailable, StoreUnavailable, DatabaseUnavailable):
            raise
        except Exception:  # a fault of this program must not hold up other mails
            logger.exception("a mail %s failed", waiting.what)
            await self._put_off(waiting)

    async def _send_within_limits(self, waiting: WaitingMail, letter: Letter) -> None:
        """Count a mail and send it. One beyond the limits waits until there is room; one not sent is not counted."""
        needed, others = self._rates.windows(letter) if self._rates else ([], [])
        counted, full = await self._attempts.try_to_count([*needed, *others]) if needed else ((), {})
        free_at = [at for window, at in full.items() if window in needed]
        was_sent = False
        try:
            if free_at:
                await self._wait(waiting, max(free_at))
            else:
                was_sent = await self._offer(waiting, letter)
        finally:
            if counted and not was_sent:
                await self._attempts.take_back(counted)

    async def _offer(self, waiting: WaitingMail, letter: Letter) -> bool:
        """Send a mail if the server takes its recipient. Returns whether it was sent, as far as one can know."""
        try:
            await self._connection.offer(letter.to)
        except AddressRefused as refused:
            await self._note_refused(waiting, letter, refused)
            return False
        except Deferred as deferred:
            self._log_first(waiting, deferred)
            await self._put_off(waiting)
            return False
        except Interrupted:
            await self._put_off(waiting)
            raise
        except Unavailable:  # not because of this mail, which stays the first
            self._on_result("failed")
            if not self._is_in_time(waiting):
                await self._give_up(waiting)
            raise
        message = await self._letters.compose(letter)
        if not await mails.take(self._site, waiting, about=letter.about):  # another process has it, or has put it off
            await self._connection.take_back()
            return False
        return await self._hand_over(waiting, letter, message)

    async def _hand_over(self, waiting: WaitingMail, letter: Letter, message: bytes) -> bool:
        """Send a mail that was taken out of the queue. Returns whether it was sent, as far as one can know."""
        try:
            await self._connection.send(message)
        except Deferred as deferred:
            self._log_first(waiting, deferred)
            if self._is_in_time(waiting):
                await mails.put_back(self._site, waiting, self._next_try(waiting), about=letter.about)
            self._on_result("failed")
            return False
        except MailRefused as refused:
            logger.warning("the mail server has refused a mail %s: %s", waiting.what, refused)
            self._on_result("refused")
            return False
        except Uncertain as fault:
            logger.warning("a mail %s may be lost: %s", waiting.what, fault)
            self._on_result("uncertain")
            return True
        self._on_result("sent")
        return True

    async def _note_refused(self, waiting: WaitingMail, letter: Letter, refused: AddressRefused) -> None:
        for name in letter.usernames:
            await mails.note_unusable(self._site, name, letter.to)
        await mails.take(self._site, waiting, about=letter.about)
        logger.warning("the mail server has refused the address of %s: %s", ", ".join(letter.usernames), refused)
        self._on_result("refused")

    def _log_first(self, waiting: WaitingMail, deferred: Deferred) -> None:
        """Log why a mail is put off, when it is for the first time."""
        if waiting.tries == 0:
            logger.warning("the mail server has put off a mail %s: %s", waiting.what, deferred)

    async def _put_off(self, waiting: WaitingMail) -> None:
        self._on_result("failed")
        if self._is_in_time(waiting):
            await mails.put_off(self._site, waiting, self._next_try(waiting))
        else:
            await self._give_up(waiting)

    async def _wait(self, waiting: WaitingMail, until: int) -> None:
        self._on_result("limited")
        if self._is_in_time(waiting):
            await mails.put_off(self._site, waiting, until, has_failed=False)
        else:
            await self._give_up(waiting)

    async def _give_up(self, waiting: WaitingMail) -> None:
        logger.warning("a mail %s was not sent within a day", waiting.what)
        await mails.take(self._site, waiting, about=list(waiting.about))

    def _is_in_time(self, waiting: WaitingMail) -> bool:
        return self._site.clock() - waiting.since < PATIENCE

    def _next_try(self, waiting: WaitingMail) -> int:
        return self._site.clock() + PAUSES[min(waiting.tries, len(PAUSES) - 1)]
