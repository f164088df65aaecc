"""Opening a store: how it was made is kept in it, and compared with the settings at every start."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

from store import keys
from store.articles import Articles
from store.client.client import RedisClient
from store.client.commands import Command
from store.client.tracking_cache import DEFAULT_CACHED_KEYS, TrackingCaches
from store.errors import StoreMismatch
from store.follows import Follows
from store.maintenance.restore import MARK
from store.passwords import Passwords
from store.ranking.config import ORDERS_FIELD, Rankings, orders_to_write
from store.ranking.formulas import Order, Policy
from store.rate_limits import Attempts
from store.sessions import Sessions
from store.site import Site
from store.users import Users

SESSION_LIFETIME = 24 * 60 * 60


def unix_milliseconds() -> int:
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class Store:
    site: Site
    sessions: Sessions
    articles: Articles
    users: Users
    follows: Follows
    attempts: Attempts

    @classmethod
    async def open(
        cls,
        url: str,
        policy: Policy | None = None,
        partitions: int | None = None,
        orders: Sequence[Order] = tuple(Order),
        *,
        clock: Callable[[], int] = unix_milliseconds,
        session_lifetime: int = SESSION_LIFETIME,
        confirming_replicas: int = 0,
        cached_keys: int = DEFAULT_CACHED_KEYS,
        tracking_caches: TrackingCaches | None = None,
        strict: bool = True,
        bounded_hashing: bool = True,
    ) -> Self:
        """
        Connect to a store; one that is used for the first time is made with these settings. Two round trips, and two
        more for a new store. Of `orders`, only a new store keeps these, and `reindex` changes which.

        Writes wait for `confirming_replicas` replicas. Up to `cached_keys` articles and users of each server are cached
        in this process, in `tracking_caches`. Not `strict`, it also opens a store that was made with another policy:
        for `verify`, which rebuilds the indexes. Not `bounded_hashing`, nobody is refused because many passwords wait
        to be hashed: they wait as long as they are not cancelled.

        Raises:
            StoreMismatch: it was made with other settings, or something is being restored into it.
            StoreUnavailable: Redis does not answer.
        """
        policy, redis = policy or Policy(), RedisClient(url, confirming_replicas, cached_keys, tracking_caches)
        try:
            partitions = await _agree(redis, policy, partitions, orders, strict)
            rankings = Rankings()
            await rankings.read(redis)
        except BaseException:
            await redis.close()
            raise
        site = Site(redis, partitions, policy, clock, session_lifetime, rankings)
        sessions = Sessions(site)
        attempts = Attempts(site)
        users = Users(site, sessions, attempts, Passwords(clock, is_bounded=bounded_hashing))
        return cls(site, sessions, Articles(site, sessions), users, Follows(site, sessions), attempts)

    async def close(self) -> None:
        self.users.close()
        await self.site.redis.close()


async def _agree(
    redis: RedisClient, policy: Policy, partitions: int | None, orders: Sequence[Order], strict: bool
) -> int:
    """The number of partitions, once the store and the settings say the same."""
    settings: dict[str, float | None] = {"partitions": partitions, **policy.kept_in_indexes()}
    reading: Command = ("HMGET", keys.store(), *settings, MARK)
    *kept, restoring = await redis.run(reading)
    is_new = 0
    if None in kept:  # else nothing is written: a store whose disk is full can be opened, too
        made = [(name, value or 1) for name, value in settings.items()]
        is_new, *_ = await redis.pipeline([("HSETNX", keys.store(), name, str(value)) for name, value in made])
        *kept, restoring = await redis.run(reading)
    if restoring is not None:
        raise StoreMismatch("what is restored into this store is not whole: do it again, or empty the store")
    if is_new:
        await _keep(redis, partitions or 1, orders)
    for (name, value), known in zip(settings.items(), kept, strict=True):
        if value is not None and float(known) != value and (strict or name == "partitions"):
            advice = "" if name == "partitions" else "; `verify --repair` rebuilds the indexes with the new value"
            raise StoreMismatch(f"UPVOTE_{name.upper()} is {value:g}, but this store was made with {known}{advice}")
    return int(kept[0])


async def _keep(redis: RedisClient, partitions: int, orders: Sequence[Order]) -> None:
    """Let a new store keep these orders; one that is told nothing keeps them all."""
    if len(orders) < len(Order):
        fields = [("HSET", keys.ranking(p), ORDERS_FIELD, orders_to_write(orders)) for p in range(partitions)]
        names = " ".join(order.value for order in Order if order in orders)
        await redis.pipeline([*fields, ("HSETNX", keys.store(), "orders", names)])
