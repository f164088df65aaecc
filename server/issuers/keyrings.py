"""
The keys of an issuer, a service outside at which users log in, as they are now. Those of an issuer on the web are
fetched in the background by one process for all, and shared through the store; each process looks there once a second.
Only requests whose token names a key that is not known wait for a fetch.

While the issuer does not answer, its last keys are used, for a limited time.
"""

import asyncio
import json
import logging
import re
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn, TypeVar
from urllib.parse import urlsplit

from server.guarded_client import WEB_PORTS, Answer, GuardedClient, NoAnswer
from server.issuers import keys
from server.issuers.file import Issuer, Issuers, WrongIssuers
from server.issuers.keys import IssuerKey, KeySet, NotAKeySet
from store.background import running
from store.errors import StoreUnavailable
from store.key_sets import FETCH_PAUSE_MS, FetchedKeys, KeySets
from store.site import unix_milliseconds

LOOK_INTERVAL = 1.0  # seconds between two looks at what other processes have fetched
LOOK_INTERVAL_WHILE_AWAITED = 0.05  # the same while requests wait for keys
PATIENCE = 5.0  # seconds that a request waits for a key, and a fetch for an answer
ANSWER_TIME = 1.0  # seconds in which a fetch is expected to be answered
MAX_WAITING = 100  # requests, for the keys of all issuers
DEFAULT_FRESHNESS = 300  # seconds that an answer is fresh if it does not say how long
LEAST_FRESHNESS = 60  # seconds that any answer is fresh
REFRESH_SHARE = 0.8  # of the freshness of an answer, after which keys are fetched again
LONGEST_PAUSE = 60_000  # milliseconds between two tries while an issuer does not answer
HOUR = 3_600_000  # milliseconds
MAX_ANSWER = 256_000  # bytes
MAX_SHOWN = 200  # characters of an answer that the log shows
ALL_PORTS = range(1, 65_536)
MAX_AGE = re.compile(r"(?:^|[\s,])max-age=\"?([0-9]{1,9})", re.IGNORECASE)
UNCACHED = re.compile(r"(?:^|[\s,])no-(?:store|cache)\b", re.IGNORECASE)
ENDPOINTS = ("authorization_endpoint", "token_endpoint")

T = TypeVar("T")

logger = logging.getLogger("upvote")


class KeysUnavailable(Exception):
    """The keys of an issuer cannot be had now: it does not answer, or too many requests wait for it."""


@dataclass(slots=True)
class Waiting:
    """How many requests wait for keys."""

    count: int = 0


@dataclass(slots=True)
class Keyring:
    """
    The keys of an issuer, which are used for `hours` at most, and for `hours_away` while the issuer does not answer.
    `waiting` counts the requests that wait for keys of any issuer. `clock` returns unix milliseconds. `on_change` is
    called whenever keys have replaced earlier ones: some of these may not be valid any more.
    """

    issuer: Issuer
    hours: int
    hours_away: int
    waiting: Waiting
    on_change: Callable[[], object]
    clock: Callable[[], int] = unix_milliseconds
    current: KeySet = field(default_factory=KeySet)
    endpoints: dict[str, str] = field(default_factory=dict)  # the URLs that discovery has answered, by `ENDPOINTS`
    _fetched: FetchedKeys | None = None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)  # set, and replaced, whenever keys were fetched
    _wanted: asyncio.Event = field(default_factory=asyncio.Event)  # set when a request begins to wait for a key
    _own_waiting: int = 0  # requests that wait for a key of this issuer
    _failures: int = 0  # in a row
    _next_try: int = 0  # unix milliseconds
    _logged: tuple[str, int] = "", 0  # the fault of the last fetch that the log has, and when it was logged
    _stamp: tuple[int, int] | None = None  # the time of change and the size of the file that was read

    async def find(self, id: str | None, algorithm: str) -> IssuerKey | None:
        """
        The key for a token; None if the issuer has none.

        For a key that is not known, it waits for the answer to a fetch that begins after this call, for `PATIENCE`
        seconds at most. Just after a fetch it waits longer: until the next one may begin, `FETCH_PAUSE_MS` after the
        last, and `ANSWER_TIME` more for its answer.

        Raises:
            KeysUnavailable: none could be fetched in this time, or too many requests wait.
        """
        return await self._found(lambda: self.current.find(id, algorithm))

    async def endpoint(self, name: str) -> str:
        """
        The URL of one of `ENDPOINTS`. It waits as `find` does, so that an issuer that was away is asked at once.

        Raises:
            KeysUnavailable: discovery could not be fetched, or does not name it; or too many requests wait.
        """
        url = await self._found(lambda: self.endpoints.get(name))
        if url is None:
            raise KeysUnavailable(f"the issuer {self.issuer.name} names no {name}")
        return url

    async def _found(self, look: Callable[[], T | None]) -> T | None:
        """What `look` finds in what was fetched, now or after the next fetch. Waits and raises as `find`."""
        found = look()
        if found is not None or not self.issuer.is_remote:
            return found
        if self.waiting.count >= MAX_WAITING:
            raise KeysUnavailable("too many requests wait for keys")
        self.waiting.count += 1
        self._own_waiting += 1
        try:
            return await self._awaited_in_time(look)
        except TimeoutError:
            raise KeysUnavailable(f"the keys of the issuer {self.issuer.name} cannot be fetched now") from None
        finally:
            self.waiting.count -= 1
            self._own_waiting -= 1

    async def _awaited_in_time(self, look: Callable[[], T | None]) -> T | None:
        """As `_found`, for what is not known. Raises TimeoutError if nothing could be fetched in time."""
        arrived = self.clock()
        try:
            async with asyncio.timeout(PATIENCE):
                return await self._awaited(look, arrived)
        except TimeoutError:
            if self._fetched is None or self._failures:
                raise
        # the issuer answers, but the pause after the last fetch may not be over
        next_answer = self._fetched.fetched_at + FETCH_PAUSE_MS + ANSWER_TIME * 1_000
        async with asyncio.timeout(max(0, next_answer - self.clock()) / 1_000):
            return await self._awaited(look, arrived)

    async def _awaited(self, look: Callable[[], T | None], arrived: int) -> T | None:
        """Wait until `look` finds something, or a fetch that began after `arrived` (unix milliseconds) has ended."""
        self._wanted.set()
        while True:
            changed = self._changed
            await changed.wait()
            found = look()
            if found is not None or (self._fetched is not None and self._fetched.fetched_at >= arrived):
                return found

    async def run(self, client: GuardedClient, shared: KeySets) -> NoReturn:
        """Keep the keys current."""
        while True:
            try:
                await self.turn(client, shared)
            except StoreUnavailable:
                pass
            except Exception:  # the task must not end
                logger.exception("the keys of the issuer %s were not brought up to date", self.issuer.name)
            await self._pause()

    async def _pause(self) -> None:
        """Wait until it is time to look again: earlier if a request wants a key."""
        if self._own_waiting:
            await asyncio.sleep(LOOK_INTERVAL_WHILE_AWAITED)
            return
        self._wanted.clear()
        try:
            async with asyncio.timeout(LOOK_INTERVAL):
                await self._wanted.wait()
        except TimeoutError:
            pass

    async def turn(self, client: GuardedClient, shared: KeySets) -> None:
        """Use what other processes have fetched, or a file that has changed. Fetch the keys if that is due."""
        if self.issuer.jwks_file is not None:
            self._use_file(await asyncio.to_thread(self._changed_file, self.issuer.jwks_file))
            return
        await self._take(shared)
        now = self.clock()
        if self._fetched is not None and now >= self._fetched.fetched_at + self.hours_away * HOUR:
            self._replace(KeySet())
        is_due = self._own_waiting or self._fetched is None or now >= self._fetched.fresh_until
        may_try = self._own_waiting or now >= self._next_try
        # `may_fetch` also keeps all other processes from fetching for some seconds
        if is_due and may_try and await shared.may_fetch(self.issuer.name):
            await self._fetch(client, shared, now)

    async def _take(self, shared: KeySets) -> None:
        """Use what any process has fetched, if it is not what is used already."""
        known = (self._fetched.source, str(self._fetched.fetched_at)) if self._fetched else ("", "")
        source, at = await shared.version(self.issuer.name)
        if source != self.source or (source, at) == known:
            return
        found = await shared.read(self.issuer.name)
        if found is not None and found.source == self.source:
            self._use(found)

    @property
    def source(self) -> str:
        """The URL that the keys are fetched from."""
        return self.issuer.discovery or self.issuer.jwks_url or ""

    async def _fetch(self, client: GuardedClient, shared: KeySets, now: int) -> None:
        """Fetch the keys, and share and use them. After failures the next try waits longer each time."""
        try:
            fetched = await self._answered(client, now)
        except (NoAnswer, NotAKeySet) as fault:
            self._failures += 1
            self._next_try = now + min(LONGEST_PAUSE, FETCH_PAUSE_MS * 2 ** min(self._failures, 10))
            self._warn(str(fault), now)
            return
        self._failures, self._next_try, self._logged = 0, 0, ("", 0)
        await shared.write(self.issuer.name, fetched)
        self._use(fetched)

    def _warn(self, fault: str, now: int) -> None:
        """Log why keys were not fetched: at once if it is another fault than before, and hourly as long as it lasts."""
        logged, at = self._logged
        if fault != logged or now >= at + HOUR:
            self._logged = fault, now
            logger.warning("the keys of the issuer %s were not fetched: %s", self.issuer.name, fault)

    async def _answered(self, client: GuardedClient, now: int) -> FetchedKeys:
        """What the issuer answers. Raises NoAnswer or NotAKeySet."""
        url, endpoints = self.issuer.jwks_url, {}
        if self.issuer.discovery:
            found = _object(await _get(client, self.issuer.discovery))
            if found.get("issuer") != self.issuer.issuer:
                raise NotAKeySet(f"discovery is that of the issuer {str(found.get('issuer'))[:MAX_SHOWN]!r}")
            url = _checked_url(found.get("jwks_uri"), self.issuer)
            endpoints = {name: _checked_url(found[name], self.issuer) for name in ENDPOINTS if name in found}
        assert url is not None
        answer = await _get(client, url)
        keys.parse(answer.body)  # raises, before other processes get it
        fresh = min(freshness(answer), self.hours * HOUR // 1000)
        text = answer.body.decode("utf-8", "replace")
        return FetchedKeys(
            self.source,
            text,
            fetched_at=now,
            fresh_until=now + round(REFRESH_SHARE * fresh * 1000),
            endpoints=json.dumps(endpoints),
        )

    def _use(self, fetched: FetchedKeys) -> None:
        self._fetched, self.endpoints = fetched, json.loads(fetched.endpoints or "{}")
        self._replace(keys.parse(fetched.text))
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()  # wakes the requests that wait

    def _replace(self, newer: KeySet) -> None:
        had_keys = len(self.current) > 0
        self.current = self.current.replaced_by(newer)  # keys that are gone are no longer current
        if had_keys:
            self.on_change()

    def _changed_file(self, file: Path) -> KeySet | None:
        """
        The keys of the file, if it has changed and is usable.

        Raises:
            WrongIssuers: there are no keys yet, and it is not usable.
        """
        try:
            status = file.stat()
            stamp = status.st_mtime_ns, status.st_size
            if stamp == self._stamp:
                return None
            newer = keys.parse(file.read_bytes())
        except (OSError, NotAKeySet) as fault:
            reason = getattr(fault, "strerror", None) or str(fault)
            if self._stamp is None:
                raise WrongIssuers(f"{file}: {reason}") from fault
            if self._failures == 0:
                logger.warning("the keys of the issuer %s stay as they were: %s: %s", self.issuer.name, file, reason)
            self._failures += 1
            return None
        self._stamp, self._failures = stamp, 0
        return newer

    def _use_file(self, newer: KeySet | None) -> None:
        if newer is not None:
            self._replace(newer)

    def load(self) -> None:
        """
        Read the keys that are on this computer.

        Raises:
            WrongIssuers: the file of the keys, or a secret, is not usable.
        """
        if self.issuer.secrets is not None:
            try:
                self.current = keys.shared_secrets(self.issuer.secrets)
            except ValueError as fault:  # a public key, which everybody may know
                raise WrongIssuers(f"the secrets of the issuer {self.issuer.name}: {fault}") from None
        elif self.issuer.jwks_file is not None:
            self._use_file(self._changed_file(self.issuer.jwks_file))


@asynccontextmanager
async def kept_current(keyrings: Iterable[Keyring], shared: KeySets) -> AsyncIterator[None]:
    """Keep keys current as long as the context is open."""
    async with AsyncExitStack() as stack:
        for keyring in keyrings:
            if keyring.issuer.secrets is None:
                client = guarded_client(keyring.issuer)
                stack.push_async_callback(client.close)
                await stack.enter_async_context(running(keyring.run(client, shared)))
        yield


def guarded_client(issuer: Issuer) -> GuardedClient:
    """The client for what is fetched from an issuer, which may be in a private network if the file says so."""
    is_private = issuer.private
    return GuardedClient(
        allows_private=is_private, ports=ALL_PORTS if is_private else WEB_PORTS, needs_tls=not is_private
    )


def freshness(answer: Answer) -> int:
    """Seconds that an answer is fresh, by its Cache-Control and Age."""
    control = answer.headers.get("cache-control", "")
    if UNCACHED.search(control):
        return LEAST_FRESHNESS
    said = MAX_AGE.search(control)
    if said is None:
        return DEFAULT_FRESHNESS
    age = answer.headers.get("age", "")
    return max(LEAST_FRESHNESS, int(said[1]) - (int(age) if age.isascii() and age.isdigit() and len(age) < 10 else 0))


async def _get(client: GuardedClient, url: str) -> Answer:
    answer = await client.send(
        "GET", url, headers={"accept": "application/json"}, follows=True, seconds=PATIENCE, max_answer=MAX_ANSWER
    )
    if answer.status != 200:
        raise NoAnswer(f"{urlsplit(url).hostname} answered {answer.status}")
    return answer


def _object(answer: Answer) -> dict[str, object]:
    try:
        found = json.loads(answer.body)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise NotAKeySet("discovery has answered no JSON object")
    return found


def _checked_url(url: object, issuer: Issuer) -> str:
    if not isinstance(url, str) or not url.startswith(("https://", "http://") if issuer.private else "https://"):
        raise NotAKeySet("discovery names an address that is no URL with https")
    return url


def keyrings(
    issuers: Issuers, on_change: Callable[[], object], clock: Callable[[], int] = unix_milliseconds
) -> dict[str, Keyring]:
    """
    The keys of each issuer, by the name of the issuer.

    Raises:
        WrongIssuers: a file of keys is not usable.
    """
    waiting = Waiting()
    made = {
        each.name: Keyring(
            each,
            hours=issuers.keys_hours,
            hours_away=issuers.keys_hours_away,
            waiting=waiting,
            on_change=on_change,
            clock=clock,
        )
        for each in issuers.issuers
    }
    for keyring in made.values():
        keyring.load()
    return made


def require_usable_keys(issuers: Issuers) -> None:
    """
    Check the keys that are on this computer.

    Raises:
        WrongIssuers: a file of keys, or a secret, is not usable.
    """
    keyrings(issuers, on_change=lambda: None)
