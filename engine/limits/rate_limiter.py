"""
Rate limits by cost: a token bucket of points for each user, server key and address.

A request takes points from one bucket: that of the user of its session, or else of its server key, or else of its
address. A server key is sent by another server that asks for its own visitors. How many points an operation costs is
estimated by `engine.limits.cost`. Buckets are kept in this process, so that no request waits for them; `synchronize`
shares them with other processes.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from ipaddress import ip_address
from math import ceil
from typing import Any, NamedTuple, TypeAlias

from caches import Usage
from engine.clients import IPV6_PREFIX, Client, network_of
from engine.errors import Code, Refused

MAX_BUCKETS = 10_000
BUCKET_SIZE = 900  # bytes of a bucket, the points taken from it and one cached token
MAX_KEY_LENGTH = 100  # characters of an address, a token or a server key
MAX_LOOKUPS = 100  # of tokens, and as many of server keys, that wait at once: further requests count by address
MAX_SERVER_KEYS = 1_000  # whose identities are cached
MAX_SECONDS = 10**15 - 1  # the largest integer in a structured field of HTTP (RFC 9651), as the headers are
LOOKUP_SECONDS = 0.25  # that a request waits for a lookup; after that it counts for its address
COST_OF_A_WRONG_KEY = 10  # points
KIND_NAMES = {"address": "address", "user": "user", "key": "server key"}

BucketKey: TypeAlias = tuple[str, str]  # "address", "user" or "key", and its name
FindNames: TypeAlias = Callable[[Collection[str]], Awaitable[Mapping[str, str | None]]]  # see `Identities`
# takes points from the buckets shared by all processes, and returns what they have left
TakePoints: TypeAlias = Callable[[Mapping[BucketKey, float]], Awaitable[Mapping[BucketKey, float]]]


@dataclass(frozen=True, slots=True)
class RatePolicy:
    """
    A bucket holds `points` at most and gains `refill` points a second.

    `setting` names the setting of `points`; the error for an empty bucket has it.
    """

    points: int
    refill: float
    setting: str = ""

    @property
    def window(self) -> int:
        """Seconds in which an empty bucket is filled."""
        return min(max(1, ceil(self.points / self.refill)), MAX_SECONDS)


DEFAULT_POLICIES = {
    "address": RatePolicy(points=20_000, refill=2_000),
    "user": RatePolicy(points=10_000, refill=1_000),
    "key": RatePolicy(points=100_000, refill=10_000),
}


class RateStatus(NamedTuple):
    """What is left in a bucket, in points. `reset_at` is when it is full again, in unix seconds."""

    limit: int
    remaining: int
    refill: float
    reset_at: float


class Identity(NamedTuple):
    """
    The name that a text (a token or a server key) identifies, None for nobody, and the time of the lookup in seconds.
    `is_certain` is False if the lookup failed.
    """

    name: str | None
    at: float
    is_certain: bool = True


@dataclass
class Identities:
    """
    A cache of identities by text: the users of tokens, or the names of server keys.

    An entry is used for `lifetime` seconds. If it is used after `fresh` seconds, the next call of `refresh` looks it up
    again, so that no request waits. `find` returns the names of texts, None for those that identify nobody, and omits
    those that it cannot look up.
    """

    fresh: float
    lifetime: float
    clock: Callable[[], float]
    max_entries: int = MAX_BUCKETS
    find: FindNames | None = None
    _known: OrderedDict[str, Identity] = field(default_factory=OrderedDict)
    _aging: set[str] = field(default_factory=set)
    _waiting: int = 0

    def __len__(self) -> int:
        return len(self._known)

    def known(self, text: str, now: float) -> Identity | None:
        """The identity of a text; None if it has to be looked up."""
        if self.find is None or len(text) > MAX_KEY_LENGTH:
            return Identity(name=None, at=now)
        found = self._known.get(text)
        if found is None:
            return None
        age = now - found.at
        if age > self.fresh:
            self._aging.add(text)
        return found if age <= self.lifetime else None

    async def look_up(self, text: str) -> Identity:
        """
        The identity of a text, looked up now. One round trip of the application.

        If that fails, or takes longer than `LOOKUP_SECONDS`, the cached identity is returned, or that of nobody.
        """
        if self._waiting >= MAX_LOOKUPS:
            return Identity(name=None, at=self.clock(), is_certain=False)
        self._waiting += 1
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                await self._find([text])
        except TimeoutError:
            self._keep(text)
        finally:
            self._waiting -= 1
        return self._known.get(text) or Identity(name=None, at=self.clock(), is_certain=False)

    async def refresh(self) -> None:
        """Look up the entries that were used when not fresh. One round trip of the application if there are any."""
        if self._aging:
            aging, self._aging = self._aging, set()
            await self._find(list(aging))

    async def _find(self, texts: list[str]) -> None:
        """Look texts up, and keep what is found."""
        assert self.find is not None
        found = await self.find(texts)
        now = self.clock()
        for text in texts:
            if text in found:
                self._put(text, Identity(found[text], now))
            else:
                self._keep(text)

    def _keep(self, text: str) -> None:
        """Use the cached identity for another `fresh` seconds, so that not every request waits for a failing lookup."""
        known = self._known.get(text)
        self._put(text, Identity(known and known.name, self.clock() - self.lifetime + self.fresh, is_certain=False))

    def _put(self, text: str, identity: Identity) -> None:
        self._known[text] = identity
        self._known.move_to_end(text)
        while len(self._known) > self.max_entries:
            self._known.popitem(last=False)


class Charge:
    """
    What a request has taken from its bucket, in points. `client` is the client of the request; if it has a server key,
    with the address of the visitor for whom that server asks.
    """

    __slots__ = ("_key", "_rates", "client", "points")

    def __init__(self, rates: "RateLimiter", key: BucketKey, client: Client) -> None:
        self._rates = rates
        self._key = key
        self.client = client
        self.points = 0

    def set(self, points: int) -> None:
        """Set the points of the request in all: takes the difference, or gives it back."""
        if points != self.points:
            self._rates.take(self._key, points - self.points)
            self.points = points

    def headers(self) -> list[tuple[bytes, bytes]]:
        """As `RateLimiter.headers`, for the bucket of this charge."""
        return self._rates.headers_of(self._key)


@dataclass
class RateLimiter:
    """
    A bucket for each user, server key and address, by the policies of these kinds. `clock` returns seconds. IPv6
    addresses of visitors count by their networks with a prefix of `ipv6_prefix` bits, as all others do.

    A request is allowed while its bucket has a point left. It may take more than there is, so that an expensive
    operation is possible at all; the next requests then wait until the bucket is positive again.

    `user_of` returns the name of the user in `Client.identified`, which needs no lookup.

    A token counts for its user only once the application has confirmed its session: any other token counts for its
    address. The application is asked when a token is first seen; an ended session is noticed within two seconds, a
    revoked server key within one.
    """

    policies: Mapping[str, RatePolicy] = field(default_factory=lambda: DEFAULT_POLICIES)
    clock: Callable[[], float] = time.time
    max_buckets: int = MAX_BUCKETS
    ipv6_prefix: int = IPV6_PREFIX
    user_of: Callable[[Any], str | None] = lambda identified: None
    _buckets: OrderedDict[BucketKey, tuple[float, float]] = field(default_factory=OrderedDict)  # points, at what time
    _taken: dict[BucketKey, float] = field(default_factory=dict)  # since the last synchronization
    _evictions: int = 0

    def __post_init__(self) -> None:
        self.sessions = Identities(fresh=1.5, lifetime=60, clock=self.clock, max_entries=self.max_buckets)
        self.keys = Identities(fresh=0.3, lifetime=0.8, clock=self.clock, max_entries=MAX_SERVER_KEYS)
        self._policy_headers = {
            kind: (b"ratelimit-policy", b'"%b";q=%d;qu="points";w=%d' % (kind.encode(), policy.points, policy.window))
            for kind, policy in self.policies.items()
        }

    @property
    def usage(self) -> Usage:
        entries = max(len(self._buckets), len(self.sessions) + len(self.keys))
        return Usage(entries * BUCKET_SIZE, entries, self._evictions)

    async def admit(self, client: Client) -> Charge:
        """
        Open a charge of 0 points to the bucket of a client. Waits only if its token or server key is not cached.

        Raises:
            Refused: the bucket is empty, or the server key is not valid.
        """
        now = self.clock()
        bucket = self._known_bucket(client, now)
        if bucket is None:  # a token or key has to be looked up; if that fails, the client counts by its address
            await self.identify(client)
            bucket = self._known_bucket(client, now) or of_address(client)
        if client.key is not None:
            client = self._of_visitor(client, self.keys.known(client.key.text, now))
        level = self._level(bucket, now)
        if level < 1:
            kind, _ = bucket
            raise too_often(now, kind, self.policies[kind], level)
        return Charge(self, bucket, client)

    async def identify(self, client: Client) -> None:
        """Look up the token and the server key of a client unless they are cached. At most two round trips."""
        now = self.clock()
        token = client.token if client.identified is None else None
        if token is not None and self.sessions.known(token, now) is None:
            await self.sessions.look_up(token)
        if client.key is not None and self.keys.known(client.key.text, now) is None:
            await self.keys.look_up(client.key.text)

    def status(self, client: Client) -> RateStatus:
        """What the bucket of a client has left."""
        now = self.clock()
        bucket = self._known_bucket(client, now) or of_address(client)
        kind, _ = bucket
        policy, level = self.policies[kind], self._level(bucket, now)
        return RateStatus(
            policy.points, max(0, int(level)), policy.refill, now + (policy.points - level) / policy.refill
        )

    def headers(self, client: Client) -> list[tuple[bytes, bytes]]:
        """
        The fields RateLimit and RateLimit-Policy of draft-ietf-httpapi-ratelimit-headers-11.

        `t` is the number of seconds until the bucket is full again, or, while it is empty, until it has a point.
        """
        return self.headers_of(self._known_bucket(client, self.clock()) or of_address(client))

    def headers_of(self, key: BucketKey) -> list[tuple[bytes, bytes]]:
        """As `headers`, for a bucket."""
        kind, _ = key
        policy, level = self.policies[kind], self._level(key, self.clock())
        seconds = (policy.points - level if level >= 1 else 1 - level) / policy.refill
        limit = b'"%b";r=%d;t=%d' % (kind.encode(), max(0.0, level), min(ceil(seconds), MAX_SECONDS))
        return [(b"ratelimit", limit), self._policy_headers[kind]]

    def take(self, key: BucketKey, points: float) -> None:
        """Take points from a bucket, or give some back if `points` is less than 0."""
        now = self.clock()
        self._buckets[key] = min(self.policies[key[0]].points, self._level(key, now) - points), now
        self._buckets.move_to_end(key)
        self._taken[key] = self._taken.get(key, 0) + points
        while len(self._buckets) > self.max_buckets:
            self._taken.pop(self._buckets.popitem(last=False)[0], None)
            self._evictions += 1

    async def synchronize(self, take_points: TakePoints) -> None:
        """
        Take from the shared buckets what was taken here since the last time, and continue with the lower level.

        Exceptions of `take_points` are raised; the points taken here are then missing from the shared buckets.
        """
        await asyncio.gather(self.sessions.refresh(), self.keys.refresh())
        if not self._taken:
            return
        self._drop_full()
        taken, self._taken = self._taken, {}
        shared_levels = await take_points(taken)
        now = self.clock()
        for key, points in shared_levels.items():
            if key in self._buckets:
                points -= self._taken.get(key, 0)  # taken while this waited
                self._buckets[key] = min(self._level(key, now), points), now

    def _known_bucket(self, client: Client, now: float) -> BucketKey | None:
        """The bucket of a client; None if its token or its server key has to be looked up."""
        user = key = None
        if client.identified is not None:
            user = Identity(self.user_of(client.identified), now)
        elif client.token is not None:
            user = self.sessions.known(client.token, now)
            if user is None:
                return None
        if client.key is not None:
            key = self.keys.known(client.key.text, now)
            if key is None:
                return None
        if user is not None and user.name is not None:
            return "user", user.name
        return ("key", key.name) if key is not None and key.name is not None else of_address(client)

    def _of_visitor(self, client: Client, key: Identity | None) -> Client:
        """
        The client with the address of the visitor for whom a server asks.

        Raises:
            Refused: the server key does not exist, or the visitor's address is not an IP address.
        """
        assert client.key is not None
        if key is not None and key.name is not None:
            return client._replace(address=network_of(visitor_address(client), self.ipv6_prefix))
        if key is not None and key.is_certain:
            self.take(of_address(client), COST_OF_A_WRONG_KEY)
            raise Refused(Code.UNAUTHENTICATED, "there is no such server key, or it was revoked")
        return client

    def _drop_full(self) -> None:
        """Remove the least recently used buckets while they are full: a missing bucket counts as full."""
        now = self.clock()
        while self._buckets:
            oldest = next(iter(self._buckets))
            if oldest in self._taken or self._level(oldest, now) < self.policies[oldest[0]].points:
                return
            del self._buckets[oldest]

    def _level(self, key: BucketKey, now: float) -> float:
        """The points in a bucket. Less than 0 if a request took more than there was."""
        policy = self.policies[key[0]]
        bucket = self._buckets.get(key)
        if bucket is None:
            return policy.points
        points, at = bucket
        return min(policy.points, points + max(0.0, now - at) * policy.refill)


def of_address(client: Client) -> BucketKey:
    return "address", client.address[:MAX_KEY_LENGTH]


def visitor_address(client: Client) -> str:
    """
    The visitor's address that comes with a server key; if none does, the address of the server itself.

    Raises:
        Refused: it is not an IP address.
    """
    assert client.key is not None
    if not client.key.visitor:
        return client.address
    try:
        return str(ip_address(client.key.visitor))
    except ValueError:
        raise Refused(Code.BAD_REQUEST, "the address of the visitor is not an IP address") from None


def too_often(now: float, kind: str, policy: RatePolicy, level: float) -> Refused:
    """The refusal where the bucket of a kind has `level` points, less than one."""
    seconds = (1 - level) / policy.refill
    retry_at = datetime.fromtimestamp(ceil(now + seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    change = f"; {policy.setting} changes this limit" if policy.setting else ""
    error = {
        "message": f"too often: the {policy.points} points of this {KIND_NAMES[kind]} are used up{change}",
        "extensions": {"code": str(Code.RATE_LIMITED), "retryAt": retry_at},
    }
    return Refused(Code.RATE_LIMITED, errors=[error], headers=[(b"retry-after", b"%d" % ceil(seconds))])
