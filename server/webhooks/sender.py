"""
Sends what waits in the database to webhooks: at most `AT_ONCE` messages at a time, in order for each subject (the
article, comment or user that a message is about).

A message that is not taken is tried again after `PAUSES`. A receiver that has not taken the messages of several
subjects in a row is away. Then one message at a time is tried, and the first try of a message does not count as one of
its tries.
"""

import asyncio
import logging
import random
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from time import time
from urllib.parse import urlsplit

from database import webhooks
from database.database import Database, DatabaseUnavailable
from database.webhooks import PendingMessage, Webhook
from server.guarded_client import DEFAULT_PORTS, WEB_PORTS, GuardedClient, NoAnswer
from server.signatures import signed_headers

AT_ONCE, AT_ONCE_TO_ONE = 8, 4  # messages that are being sent: in all, and to one webhook
TIME_LIMIT = 10.0  # seconds for a request and its answer
MAX_ANSWER = 64_000  # bytes
MINUTE = 60_000  # milliseconds
HOUR = 60 * MINUTE  # milliseconds
# milliseconds between the ten tries of a message
PAUSES = (5_000, 5 * MINUTE, 30 * MINUTE, *(hours * HOUR for hours in (2, 5, 10, 14, 20, 24)))
JITTER = 0.1  # of a pause, by which it may be longer
AWAY = 3  # subjects whose messages were not taken, in a row, after which a receiver is away
AWAY_PAUSE = MINUTE  # milliseconds between two tries of a webhook that is away
GONE = 410  # HTTP status: the receiver wants no more messages
MAX_FAULT = 300  # characters of the reason why a message was not taken

logger = logging.getLogger("upvote")


@dataclass(slots=True)
class Lane:
    """
    What is being sent to one webhook. `sent` are the numbers of the messages that are under way. `failed` are the
    subjects of the messages that were not taken since the last one that was. Nothing more is sent before `waits_until`
    (unix milliseconds).
    """

    sent: set[int] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    waits_until: int = 0
    is_empty: bool = False  # the database had nothing due for this webhook when it was last asked

    @property
    def is_away(self) -> bool:
        return len(self.failed) >= AWAY

    def is_free(self, now: int) -> bool:
        limit = 1 if self.is_away else AT_ONCE_TO_ONE
        return not self.is_empty and len(self.sent) < limit and now >= self.waits_until


class Sender:
    """Sends the messages that are due, in tasks of its own."""

    def __init__(
        self,
        database: Database,
        clock: Callable[[], int],
        on_result: Callable[[str], None],
        chance: Callable[[], float] = random.random,
    ) -> None:
        """`clock` gives unix milliseconds, `chance` a number below 1. `on_result` gets a word for each try."""
        self._database, self._clock, self._on_result, self._chance = database, clock, on_result, chance
        self._webhooks: dict[int, Webhook] = {}  # those that are on, by id
        self._lanes: defaultdict[int, Lane] = defaultdict(Lane)  # by id of the webhook
        self._tasks: set[asyncio.Task[None]] = set()
        self._starting = asyncio.Lock()
        self._clients: dict[Collection[int], GuardedClient] = {}  # by the ports to which they may connect

    async def start(self, hooks: Sequence[Webhook]) -> None:
        """
        Send what is due to these webhooks, and what becomes due while that is sent. Returns at once.

        Raises:
            DatabaseUnavailable: the database does not answer.
        """
        self._webhooks = {hook.id: hook for hook in hooks if hook.off_at is None}
        for id, lane in list(self._lanes.items()):
            lane.is_empty = False
            if id not in self._webhooks and not lane.sent:
                del self._lanes[id]  # a webhook that is switched on again begins with a new lane
        await self._start_due()

    def pause(self) -> None:
        """Begin to send nothing more, until the next start. What is being sent goes on."""
        self._webhooks = {}

    async def idle(self) -> None:
        """Wait until nothing is being sent."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self) -> None:
        """End what is being sent: it is sent again by the next process."""
        self.pause()
        for task in self._tasks:
            task.cancel()
        await self.idle()
        for client in self._clients.values():
            await client.close()

    async def _start_due(self) -> None:
        """Begin to send what is due, until no webhook may get one more message."""
        async with self._starting:
            while (id := self._next_free()) is not None:
                lane = self._lanes[id]
                find = webhooks.probe if lane.is_away else webhooks.due
                lane.is_empty = True  # set before the question: what becomes due meanwhile sets it to False
                message = await self._database.run(find, id, self._clock(), lane.sent)
                if message and id in self._webhooks:
                    lane.is_empty = False
                    lane.sent.add(message.number)
                    task = asyncio.create_task(self._send(self._webhooks[id], lane, message))
                    self._tasks.add(task)
                    task.add_done_callback(self._tasks.discard)

    def _next_free(self) -> int | None:
        """Of the webhooks that may get one more message, the one to which the fewest are being sent."""
        if sum(len(lane.sent) for lane in self._lanes.values()) >= AT_ONCE:
            return None
        now = self._clock()
        free = [id for id in self._webhooks if self._lanes[id].is_free(now)]
        return min(free, key=lambda id: len(self._lanes[id].sent), default=None)

    async def _send(self, hook: Webhook, lane: Lane, message: PendingMessage) -> None:
        try:
            await self._try(hook, lane, message)
        except DatabaseUnavailable:
            lane.waits_until = self._clock() + AWAY_PAUSE  # what was taken is sent again, but not at once
        except Exception:  # a fault of this program must not be repeated without a pause
            lane.waits_until = self._clock() + AWAY_PAUSE
            logger.exception("sending to webhook %d failed", hook.id)
        finally:
            lane.sent.discard(message.number)
        lane.is_empty = False
        with suppress(DatabaseUnavailable):  # the next start tries again
            await self._start_due()

    async def _try(self, hook: Webhook, lane: Lane, message: PendingMessage) -> None:
        """Send a message, and note what became of it."""
        status, fault = await self._request(hook, message)
        self._on_result("failed" if fault else "delivered")
        if not fault:
            lane.failed.clear()
            lane.waits_until = 0
            await self._database.write(webhooks.delivered, message, self._clock())
        elif status == GONE:
            await self._switch_off(hook, "it has answered 410: it wants no more messages")
        else:
            await self._note_failure(hook, lane, message, fault)

    async def _note_failure(self, hook: Webhook, lane: Lane, message: PendingMessage, fault: str) -> None:
        """Put a message off, or switch the webhook off if this was the last try."""
        now = self._clock()
        counts = message.tries > 0 or not lane.is_away  # whether this is one of the tries of the message
        if not lane.failed:
            logger.warning("webhook %d has not taken a message about %s: %s", hook.id, message.subject, fault)
        lane.failed.add(message.subject)
        if lane.is_away:
            lane.waits_until = now + AWAY_PAUSE
        if counts and message.tries == len(PAUSES):
            await self._switch_off(hook, f"a message has failed {message.tries + 1} times, at last with: {fault}")
            return
        due = now + round(PAUSES[message.tries] * (1 + JITTER * self._chance())) if counts else None
        await self._database.write(webhooks.failed, message, fault, due)

    async def _switch_off(self, hook: Webhook, reason: str) -> None:
        self._webhooks.pop(hook.id, None)
        if await self._database.write(webhooks.switch_off, hook.id, reason, self._clock()):
            logger.error(
                "webhook %d is off: %s. Its messages are kept for 7 days; `upvote webhook replay %d` goes on",
                hook.id,
                reason,
                hook.id,
            )

    async def _request(self, hook: Webhook, message: PendingMessage) -> tuple[int, str]:
        """The status of the answer, and why it means that the message was not taken; "" if it was."""
        headers = signed_headers(message.body, message.id, int(time()), hook.secrets(self._clock()))
        try:
            answer = await self._client(hook).send(
                "POST", hook.url, content=message.body, headers=headers, seconds=TIME_LIMIT, max_answer=MAX_ANSWER
            )
        except NoAnswer as error:
            return 0, str(error)[:MAX_FAULT]
        return answer.status, "" if 200 <= answer.status < 300 else f"status {answer.status}"

    def _client(self, hook: Webhook) -> GuardedClient:
        """The HTTP client for a webhook. Private receivers may listen on any port."""
        ports = frozenset({port_of(hook.url)}) if hook.allows_private else WEB_PORTS
        if ports not in self._clients:
            self._clients[ports] = GuardedClient(allows_private=hook.allows_private, ports=ports)
        return self._clients[ports]


def port_of(url: str) -> int:
    parts = urlsplit(url)
    return parts.port or DEFAULT_PORTS[parts.scheme]
