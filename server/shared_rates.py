"""Synchronizes the rate limits by cost among all server processes, through the store."""

import asyncio
import logging
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from functools import partial

from engine import BucketKey, RateLimiter
from store.errors import StoreUnavailable
from store.rate_limits import TokenBuckets
from store.sessions import Session, parse_token
from store.store import Store

INTERVAL_SECONDS = 0.1

logger = logging.getLogger("upvote")


@asynccontextmanager
async def synchronized(rates: RateLimiter | None, store: Store) -> AsyncIterator[None]:
    """Exchange the points taken with other processes every tenth of a second. Without the store, each counts alone."""
    if rates is None:
        yield
        return
    task = asyncio.create_task(_synchronize(rates, store))
    try:
        yield
    finally:
        task.cancel()


def digest_of(token: str) -> str | None:
    """The key that a token's points count under until its user is known; None if it is not a valid token."""
    session = parse_token(token)
    return f"{session.digest}:{session.slot}" if session else None


async def usernames(store: Store, digests: Collection[str]) -> dict[str, str | None]:
    """The users whom tokens belong to, by digest; None without a session. One round trip."""
    parts = [digest.split(":") for digest in digests]
    names = await store.sessions.usernames([Session(digest, int(slot)) for digest, slot in parts])
    return {digest: name and name.lower() for digest, name in zip(digests, names, strict=True)}


async def take(buckets: TokenBuckets, taken: Mapping[BucketKey, float]) -> dict[BucketKey, float]:
    """Take points from the buckets of all processes and return what is left. One round trip."""
    left = await buckets.take({" ".join(key): points for key, points in taken.items()})
    return {key: left[" ".join(key)] for key in taken}


async def _synchronize(rates: RateLimiter, store: Store) -> None:
    buckets = TokenBuckets(store.site, rates.points, rates.refill)
    while True:
        await asyncio.sleep(INTERVAL_SECONDS)
        try:
            await rates.synchronize(partial(take, buckets), partial(usernames, store))
        except StoreUnavailable:
            pass
        except Exception:  # the task must go on: nothing restarts it
            logger.exception("rate limits were not synchronized with other processes")
