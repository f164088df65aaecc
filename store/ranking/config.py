"""How a store ranks: which orders it keeps, and the weights of groups that have their own."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import NoReturn

from store import keys
from store.client.client import RedisClient
from store.errors import StoreUnavailable
from store.events import RANKINGS, RECONNECT_PAUSE, Events
from store.ranking.formulas import WEIGHTS, Order

ORDERS_FIELD = "ORDERS"  # the field with the orders that scripts write
REINDEX_FIELD = "REINDEX"  # the field that says whose reindex is under way
PENDING_PREFIX = "next:"  # before the name of a group that is being rebuilt; other fields are names of groups

logger = logging.getLogger("upvote")


@dataclass(slots=True)
class Rankings:
    """
    What this process knows of it, renewed whenever it is told of a change.

    Scripts that write look for themselves, so that what they write is right at every instant.
    """

    orders: tuple[Order, ...] = tuple(Order)
    weights: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    async def read(self, redis: RedisClient) -> None:
        """One round trip."""
        orders, weights = await stored_rankings(redis)
        self.orders = orders_of(orders) if orders is not None else tuple(Order)
        self.weights = {name: weights_of(text) for name, text in weights.items()}


async def stored_rankings(redis: RedisClient) -> tuple[str | None, dict[str, str]]:
    """The orders that may be asked for, all where it is None, and the weights of groups. One round trip."""
    orders, stored = await redis.pipeline(
        [("HGET", keys.store(), "orders"), ("HGETALL", keys.ranking(0))]  # all partitions have the same
    )
    others = (ORDERS_FIELD, REINDEX_FIELD)
    return orders, {
        name: text for name, text in stored.items() if name not in others and not name.startswith(PENDING_PREFIX)
    }


def orders_of(text: str) -> tuple[Order, ...]:
    """In the order of their definition."""
    return tuple(order for order in Order if order.value in text.split())


def orders_to_write(orders: Iterable[Order]) -> str:
    """
    What scripts have to write so that these orders can be asked for.

    Groups are listed, and new articles found, by TIME, which no vote moves; GRAVITY reads VOTES.
    """
    needed = {*orders, Order.TIME}
    if Order.GRAVITY in needed:
        needed.add(Order.VOTES)
    return " ".join(order.value for order in Order if order in needed)


def weights_of(text: str) -> dict[str, float]:
    return {name: float(value) for name, value in (pair.split("=") for pair in text.split()) if name in WEIGHTS}


@asynccontextmanager
async def keep_current(rankings: Rankings, redis: RedisClient, events: Events) -> AsyncIterator[None]:
    """Keep rankings as the store has them, for as long as its events are heard."""
    stirred = asyncio.Event()
    stirred.set()
    task = asyncio.create_task(_renew(rankings, redis, stirred))
    try:
        with events.subscribed(RANKINGS, lambda event: stirred.set()):
            yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _renew(rankings: Rankings, redis: RedisClient, stirred: asyncio.Event) -> NoReturn:
    while True:
        await stirred.wait()
        stirred.clear()
        try:
            await rankings.read(redis)
            continue
        except StoreUnavailable:
            pass
        except Exception:  # nobody else starts us again
            logger.exception("the rankings of the store were not read")
        stirred.set()
        await asyncio.sleep(RECONNECT_PAUSE)
