"""
Closes the WebSockets and streams of sessions that end while they are in use, in every process: when their user is
banned from the site, leaves it, or ends them, and within an hour when they end by time. The same for tokens of issuers
(services outside at which users log in), at the instant at which they expire.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import NamedTuple, NoReturn

from engine import Client
from store import keys
from store.background import running
from store.errors import StoreUnavailable
from store.events import ENDS_SESSIONS, RECONNECT_PAUSE, SESSIONS, Event, EventKind, Events, of_moderation
from store.identities import Identified
from store.sessions import parse_token
from store.site import Session
from store.store import Store

CHECK_INTERVAL = 3_600  # seconds between two reads of all sessions

OnEnd = Callable[[], object]


class Watched(NamedTuple):
    """A session, or the user of an issuer's token, and what is called once it has ended."""

    session: Session | Identified
    token: str
    on_end: OnEnd


class EndedSessions:
    """
    The sessions of open WebSockets and streams, by the slot of their users: which of 1,024 shares of all users each
    falls into. Events say whose sessions may have ended, and these are read again:

    - after an action of a moderator, the sessions of its subject's slot: the number of the action modulo `keys.SLOTS`;
    - after sessions of a user have ended, or the user has left, the sessions of the user's slot;
    - after events were lost, all;
    - every `CHECK_INTERVAL` all, as sessions also end by time, which no event says.
    """

    def __init__(self) -> None:
        self._watched: defaultdict[int, list[Watched]] = defaultdict(list)  # by slot
        self._outdated: set[int] = set()  # slots
        self._has_outdated = asyncio.Event()

    @contextmanager
    def watch(self, client: Client, on_end: OnEnd) -> Iterator[None]:
        """Call a function once the session of a client has ended, as long as the context is open."""
        token = client.token or ""
        session = client.identified or parse_token(token)
        if session is None:
            yield
            return
        slot, watched = slot_of(session), Watched(session, token, on_end)
        self._watched[slot].append(watched)
        timer = self._timer(watched)
        try:
            yield
        finally:
            if timer:
                timer.cancel()
            self._watched[slot].remove(watched)
            if not self._watched[slot]:
                del self._watched[slot]

    def _timer(self, watched: Watched) -> asyncio.TimerHandle | None:
        """A timer that calls `on_end` when an issuer's token expires; None for a session."""
        if not isinstance(watched.session, Identified):
            return None
        left = watched.session.expires_at - self._clock()
        return asyncio.get_running_loop().call_later(max(0, left) / 1000, watched.on_end)

    def end_forgotten(self, remembered: Callable[[str], object]) -> None:
        """
        End what was opened with tokens of issuers that `remembered` does not know any more: the key that has signed
        them was withdrawn.
        """
        for watched in [each for listed in self._watched.values() for each in listed]:
            if isinstance(watched.session, Identified) and remembered(watched.token) is None:
                watched.on_end()

    @asynccontextmanager
    async def checked(self, store: Store, events: Events) -> AsyncIterator[None]:
        """Read sessions again after events, as long as the context is open."""
        self._clock = store.site.clock
        async with running(self._run(store)), running(self._note_all()):
            with events.subscribed(self._note, SESSIONS, of_moderation(group=None)):
                yield

    def _note(self, event: Event) -> None:
        if event.kind is EventKind.MISSED:
            slots = set(self._watched)
        else:
            slots = {keys.slot(event.username) if event.kind in ENDS_SESSIONS else event.number % keys.SLOTS}
        self._outdated |= slots & self._watched.keys()
        if self._outdated:
            self._has_outdated.set()

    async def _note_all(self) -> NoReturn:
        while True:
            await asyncio.sleep(CHECK_INTERVAL)
            self._note(Event(EventKind.MISSED))

    async def _run(self, store: Store) -> None:
        """Check the outdated slots whenever there are some; again after a pause if the store does not answer."""
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
        """Read sessions again, and end those that are over. One round trip, or two."""
        watched = [each for slot in slots for each in self._watched.get(slot, ())]
        sessions = [each.session for each in watched if isinstance(each.session, Session)]
        identified = [each.session for each in watched if isinstance(each.session, Identified)]
        names = iter(await store.sessions.usernames(sessions) if sessions else [])
        may_stay = iter(await store.identities.may_stay(identified) if identified else [])
        for each in watched:
            has_ended = next(names) is None if isinstance(each.session, Session) else not next(may_stay)
            if has_ended:
                each.on_end()


def slot_of(session: Session | Identified) -> int:
    """The slot of the user of a session, or of an issuer's token."""
    return session.slot if isinstance(session, Session) else keys.slot(session.username)
