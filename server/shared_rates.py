"""
Connects the rate limits by cost to the store: finds users and server keys, and shares buckets among processes. A bucket
has the points that a user, a server key or an address has left; another server of the site sends a server key with the
requests of its visitors.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from functools import partial

from engine import BucketKey, RateLimiter
from store.background import repeating
from store.errors import StoreUnavailable
from store.rate_limits import TokenBuckets
from store.sessions import parse_token
from store.store import Store

INTERVAL_SECONDS = 0.1  # between two exchanges of points with the store


@asynccontextmanager
async def synchronized(rates: RateLimiter | None, store: Store) -> AsyncIterator[None]:
    """
    Let the rate limiter look up sessions and server keys, and share its buckets every `INTERVAL_SECONDS`.

    While the store does not answer, each process counts alone. Without rate limits (None) it does nothing.
    """
    if rates is None:
        yield
        return
    rates.sessions.find = partial(usernames, store)
    rates.keys.find = partial(key_names, store)
    take_shared = partial(take, buckets_of(rates, store))
    async with repeating(
        partial(rates.synchronize, take_shared),
        INTERVAL_SECONDS,
        "rate limits were not synchronized with other processes",
    ):
        yield


async def usernames(store: Store, tokens: Collection[str]) -> dict[str, str | None]:
    """
    The name, in lower case, of the user of each token; None for a token without a session. One round trip; empty if the
    store does not answer.
    """
    sessions = {token: parse_token(token) for token in tokens}
    valid = {token: session for token, session in sessions.items() if session}
    try:
        names = await store.sessions.usernames(list(valid.values())) if valid else []
    except StoreUnavailable:
        return {}
    found = {token: name.lower() for token, name in zip(valid, names, strict=True) if name}
    return {token: found.get(token) for token in tokens}


async def key_names(store: Store, texts: Collection[str]) -> dict[str, str | None]:
    """
    The name of the server key that each text is; None for a text that is no key. One round trip; empty if the store
    does not answer.
    """
    try:
        return dict(zip(texts, await store.server_keys.names(list(texts)), strict=True))
    except StoreUnavailable:
        return {}


def buckets_of(rates: RateLimiter, store: Store) -> dict[str, TokenBuckets]:
    """The shared buckets of each kind: `user`, `address` and `key`."""
    return {kind: TokenBuckets(store.site, policy.points, policy.refill) for kind, policy in rates.policies.items()}


async def take(buckets: Mapping[str, TokenBuckets], taken: Mapping[BucketKey, float]) -> dict[BucketKey, float]:
    """
    Take points from the buckets that all processes share, and return the points that each has left. The key of a bucket
    is its kind and whose it is, such as ("address", "192.0.2.1"). One round trip.
    """
    by_kind = {kind: {key: points for key, points in taken.items() if key[0] == kind} for kind in buckets}
    replies = [
        buckets[kind].take({" ".join(key): points for key, points in of_kind.items()})
        for kind, of_kind in by_kind.items()
        if of_kind
    ]
    left = {subject: points for reply in await asyncio.gather(*replies) for subject, points in reply.items()}
    return {key: left[" ".join(key)] for key in taken}
