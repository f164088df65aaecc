"""What processes tell each other of rates, by way of the store: a token's points are those of its user."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import partial

from server.wire import Rates, Subject
from store.buckets import Buckets
from store.errors import StoreUnavailable
from store.sessions import session_of
from store.stores import Store

SECONDS = 0.1

logger = logging.getLogger("upvote")


@asynccontextmanager
async def shared(rates: Rates | None, store: Store) -> AsyncIterator[None]:
    """Let processes know of what others gave out, within a tenth of a second; while the store is away, of none."""
    if rates is None:
        yield
        return
    sharing = asyncio.create_task(_share(rates, store))
    try:
        yield
    finally:
        sharing.cancel()


async def tell(store: Store, buckets: Buckets, taken: Mapping[Subject, float]) -> dict[Subject, float]:
    """Take points for all processes, and give what is left. Two round trips."""
    owners = await _owners(store, taken)
    points: dict[str, float] = defaultdict(float)
    for subject in taken:
        points[owners[subject]] += taken[subject]
    left = await buckets.take(points)
    return {subject: left[owners[subject]] for subject in taken}


async def _share(rates: Rates, store: Store) -> None:
    buckets = Buckets(store.site, rates.points, rates.back)
    while True:
        await asyncio.sleep(SECONDS)
        try:
            await rates.share(partial(tell, store, buckets))
        except StoreUnavailable:
            pass
        except Exception:  # whatever it is, the next round may be better, and nobody else starts us again
            logger.exception("points of cost were not shared between processes")


async def _owners(store: Store, subjects: Iterable[Subject]) -> dict[Subject, str]:
    sessions = {(kind, name): session for kind, name in subjects if kind == "token" and (session := session_of(name))}
    names = await store.sessions.usernames(list(sessions.values()))
    users = {subject: f"user {name}" for subject, name in zip(sessions, names, strict=True) if name}
    return {subject: users.get(subject, " ".join(subject)) for subject in subjects}
