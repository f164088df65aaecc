"""
The ranking configuration of a store: the orders that it has indexes for, such as HOT or TIME, and the weights, the
numbers of their formulas, of groups that have their own.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn

from store import keys, links
from store.background import running
from store.client.client import RedisClient
from store.errors import StoreUnavailable
from store.events import RANKINGS, RECONNECT_PAUSE, Events
from store.ranking.formulas import WEIGHTS, Order

# Settings of the store are fields of the hash `store`. The ranking hash is in each partition, for its scripts.
# Clients may use the orders in the field `orders` of `store`; scripts may have to write more (`orders_to_write`).
ORDERS_FIELD = "ORDERS"  # field of the ranking hash: the orders that scripts write
LINKS_FIELD = "links"  # field of the store's settings: the version of its index of links, once that is complete
ACTIVE_FIELD = "active"  # field of the store's settings: that it was made with an index of ACTIVE
RECENT_FIELD = "recent"  # field of the store's settings: that its indexes of recent comments are complete
HOMES_FIELD = "homes"  # field of the store's settings: that its indexes for homes (`store.home_indexes`) are complete
ARCHIVE_FIELD = "archived"  # field of the store's settings: the id of its archive, once an article has left Redis
CONVERSATIONS_FIELD = "conversations"  # field of the store's settings: that an article with comments has left Redis
REINDEX_FIELD = "REINDEX"  # field of the ranking hash: the token of the reindex that is under way
PENDING_PREFIX = "next:"  # of fields of the ranking hash: before a group, its new weights while its indexes are rebuilt

logger = logging.getLogger("upvote")


@dataclass(slots=True)
class Rankings:
    """
    The configuration, with what indexes and archive the store has, as this process last read it. `keep_current` reads
    it again after each event of the topic RANKINGS.

    It is only for reads: scripts that write read the stored configuration.
    """

    orders: tuple[Order, ...] = tuple(Order)
    weights: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    has_links: bool = False  # whether the index of links is complete
    has_recent_comments: bool = False  # whether the indexes of recent comments are complete
    has_homes: bool = False  # whether the indexes for homes are complete
    archive: str | None = None  # the id of the archive in the database; None if no article has ever left Redis
    has_archived_conversations: bool = False  # whether an article has ever left Redis together with comments

    async def read(self, redis: RedisClient) -> None:
        """Read the stored configuration. One round trip."""
        stored = await stored_rankings(redis)
        self.archive, self.has_recent_comments = stored.archive, stored.has_recent_comments
        self.has_homes = stored.has_homes
        self.has_archived_conversations = stored.has_archived_conversations
        self.has_links = stored.links_version == str(links.VERSION)
        self.orders = orders_of(stored.orders) if stored.orders is not None else tuple(Order)
        self.weights = {name: weights_of(text) for name, text in stored.weights.items()}


class StoredRankings(NamedTuple):
    """The configuration as it is stored. `orders` is None if the operator has chosen none: then the store has all."""

    orders: str | None
    weights: dict[str, str]
    links_version: str | None
    has_recent_comments: bool
    has_homes: bool
    archive: str | None
    has_archived_conversations: bool


async def stored_rankings(redis: RedisClient) -> StoredRankings:
    """
    Read the configuration. One round trip.

    The ranking hash also has the weights of each group, in a field with the group's name.

    The orders lack ACTIVE if an earlier version made the store: its index of ACTIVE is not complete before a reindex.
    """
    fields = ("orders", ACTIVE_FIELD, LINKS_FIELD, RECENT_FIELD, HOMES_FIELD, ARCHIVE_FIELD, CONVERSATIONS_FIELD)
    values, stored = await redis.pipeline(
        [("HMGET", keys.store(), *fields), ("HGETALL", keys.ranking(0))]  # the same in all partitions
    )
    found: dict[str, str | None] = dict(zip(fields, values, strict=True))
    orders = found["orders"]
    if orders is None and found[ACTIVE_FIELD] is None:
        orders = " ".join(order.value for order in Order if order is not Order.ACTIVE)
    own_fields = (ORDERS_FIELD, REINDEX_FIELD)
    weights = {
        name: text for name, text in stored.items() if name not in own_fields and not name.startswith(PENDING_PREFIX)
    }
    return StoredRankings(
        orders,
        weights,
        links_version=found[LINKS_FIELD],
        has_recent_comments=found[RECENT_FIELD] is not None,
        has_homes=found[HOMES_FIELD] is not None,
        archive=found[ARCHIVE_FIELD],
        has_archived_conversations=found[CONVERSATIONS_FIELD] is not None,
    )


def orders_of(text: str) -> tuple[Order, ...]:
    """Parse orders, separated by spaces."""
    return tuple(order for order in Order if order.value in text.split())


def orders_to_write(orders: Iterable[Order]) -> str:
    """
    The orders that scripts write so that clients can use `orders`, separated by spaces.

    TIME is always written, as groups and new articles are found by it. GRAVITY needs VOTES.
    """
    needed = {*orders, Order.TIME}
    if Order.GRAVITY in needed:
        needed.add(Order.VOTES)
    return " ".join(order.value for order in Order if order in needed)


def weights_of(text: str) -> dict[str, float]:
    """Parse the weights of a group: `name=value`, separated by spaces."""
    return {name: float(value) for name, value in (pair.split("=") for pair in text.split()) if name in WEIGHTS}


@asynccontextmanager
async def keep_current(rankings: Rankings, redis: RedisClient, events: Events) -> AsyncIterator[None]:
    """Read the configuration again after each event of the topic RANKINGS, as long as the context is open."""
    changed = asyncio.Event()
    changed.set()
    with events.subscribed(lambda event: changed.set(), RANKINGS):
        async with running(_renew(rankings, redis, changed)):
            yield


async def _renew(rankings: Rankings, redis: RedisClient, changed: asyncio.Event) -> NoReturn:
    while True:
        await changed.wait()
        changed.clear()
        try:
            await rankings.read(redis)
            continue
        except StoreUnavailable:
            pass
        except Exception:  # the task must not end
            logger.exception("reading the ranking configuration failed")
        changed.set()
        await asyncio.sleep(RECONNECT_PAUSE)
