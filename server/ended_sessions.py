"""
Sessions that end while they are in use: who is banned from the site, or leaves it, loses theirs, and users end their
own. The WebSockets and streams of these sessions are closed, in every process.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from engine import Client
from store import keys
from store.background import running
from store.errors import StoreUnavailable
from store.events import ENDS_SESSIONS, RECONNECT_PAUSE, SESSIONS, Event, EventKind, Events, of_moderation
from store.sessions import parse_token
from store.site import Session
from store.store import Store

OnEnd = Callable[[], object]


class EndedSessions:
    """
    The sessions of open WebSockets and streams. After an action of a moderator, those of its subject's slot are read
    again, and after sessions of a user have ended, or the user has left, those of the user's slot; after events were
    lost, all. The number of an action carries the slot, as that of a departure and a token do.
    """

    def __init__(self) -> None:
        self._watched: defaultdict[int, list[tuple[Session, OnEnd]]] = defaultdict(list)  # by slot
        self._outdated: set[int] = set()  # slots
        self._has_outdated = asyncio.Event()

    @contextmanager
    def watch(self, client: Client, on_end: OnEnd) -> Iterator[None]:
        """Call a function once the session of a client has ended, as long as the context is open."""
        session = parse_token(client.token) if client.token else None
        if session is None:
            yield
            return
        watched = session, on_end
        self._watched[session.slot].append(watched)
        try:
            yield
        finally:
            self._watched[session.slot].remove(watched)
            if not self._watched[session.slot]:
                del self._watched[session.slot]

    @asynccontextmanager
    async def checked(self, store: Store, events: Events) -> AsyncIterator[None]:
        """Read sessions again after events, as long as the context is open."""
        async with running(self._run(store)):
            with events.subscribed(self._note, SESSIONS, of_moderation(None)):
                yield

    def _note(self, event: Event) -> None:
        if event.kind is EventKind.MISSED:
            slots = set(self._watched)
        else:
            slots = {keys.slot(event.poster) if event.kind in ENDS_SESSIONS else event.number % keys.SLOTS}
        self._outdated |= slots & self._watched.keys()
        if self._outdated:
            self._has_outdated.set()

    async def _run(self, store: Store) -> None:
        while True:
            await self._has_outdated.wait()
            self._has_outdated.clear()
            slots, self._outdated = self._outdated, set()
            try:
                await self._check(store, slots)
            except StoreUnavailable:
                self._outdated |= slots
                self._has_outdated.set()
                await asyncio.sleep(RECONNECT_PAUSE)

    async def _check(self, store: Store, slots: set[int]) -> None:
        """One round trip."""
        watched = [each for slot in slots for each in self._watched.get(slot, ())]
        names = await store.sessions.usernames([session for session, _ in watched]) if watched else []
        for (_, on_end), name in zip(watched, names, strict=True):
            if name is None:
                on_end()
