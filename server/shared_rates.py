"""What processes tell each other of rates, by way of the store."""

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

SECONDS = 0.1

logger = logging.getLogger("upvote")


@asynccontextmanager
async def shared(rates: RateLimiter | None, store: Store) -> AsyncIterator[None]:
    """Let processes know of what others gave out, within a tenth of a second; while the store is away, of none."""
    if rates is None:
        yield
        return
    sharing = asyncio.create_task(_share(rates, store))
    try:
        yield
    finally:
        sharing.cancel()


def digest_of(token: str) -> str | None:
    """What a token is counted by until it is known whose it is; None of text that is no token."""
    session = parse_token(token)
    return f"{session.digest}:{session.slot}" if session else None


async def identify(store: Store, digests: Collection[str]) -> dict[str, str | None]:
    """Whose the tokens of these digests are, by name; None where they are nobody's. One round trip."""
    parts = [digest.split(":") for digest in digests]
    names = await store.sessions.usernames([Session(digest, int(slot)) for digest, slot in parts])
    return {digest: name and name.lower() for digest, name in zip(digests, names, strict=True)}


async def tell(buckets: TokenBuckets, taken: Mapping[BucketKey, float]) -> dict[BucketKey, float]:
    """Take points for all processes, and give what is left. One round trip."""
    left = await buckets.take({" ".join(subject): points for subject, points in taken.items()})
    return {subject: left[" ".join(subject)] for subject in taken}


async def _share(rates: RateLimiter, store: Store) -> None:
    buckets = TokenBuckets(store.site, rates.points, rates.refill)
    while True:
        await asyncio.sleep(SECONDS)
        try:
            await rates.synchronize(partial(tell, buckets), partial(identify, store))
        except StoreUnavailable:
            pass
        except Exception:  # whatever it is, the next round may be better, and nobody else starts us again
            logger.exception("points of cost were not shared between processes")
