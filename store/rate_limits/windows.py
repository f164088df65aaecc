"""Moving windows of `limits`, counted by its own scripts, over the store's connection and by the store's clock."""

from typing import NoReturn

from limits.aio.storage import MovingWindowSupport, Storage
from limits.aio.strategies import MovingWindowRateLimiter
from limits.limits import RateLimitItem, RateLimitItemPerSecond
from limits.util import get_package_data

from store import keys
from store.client.commands import Command
from store.errors import StoreUnavailable
from store.rate_limits.attempts import Window
from store.site import Site

SCRIPTS = "resources/redis/lua_scripts"
ACQUIRE = get_package_data(f"{SCRIPTS}/acquire_moving_window.lua").decode()
LOOK = get_package_data(f"{SCRIPTS}/moving_window.lua").decode()


class Limiter:
    def __init__(self, site: Site) -> None:
        self._storage = Lists(site)
        self._windows = MovingWindowRateLimiter(self._storage)

    async def hit(self, window: Window) -> bool:
        """Count an attempt, if there is room for it. One round trip."""
        return await self._windows.hit(*limit(window))

    def take_back(self, window: Window) -> Command:
        """What forgets the newest attempt."""
        item, subject = limit(window)
        return ("LPOP", self._storage.place(item.key_for(subject)))

    async def free_at(self, window: Window) -> int:
        """When there is room again, in unix milliseconds. One round trip."""
        stats = await self._windows.get_window_stats(*limit(window))
        return round(stats.reset_time * 1000) + 1  # an attempt counts to the end of its last instant


def limit(window: Window) -> tuple[RateLimitItem, str]:
    return RateLimitItemPerSecond(window.most, window.seconds), repr(window.subject)


class Lists(Storage, MovingWindowSupport):
    """
    A storage as `limits` wants it, for moving windows only: where two fixed ones meet, twice as much gets through.

    A window is a list of instants in seconds, the newest first: one key, in which one script counts, also on a cluster.
    What `limits` calls a key may hold what clients said: only its digest becomes part of ours.
    """

    def __init__(self, site: Site) -> None:
        super().__init__()
        self._site = site

    @property
    def base_exceptions(self) -> type[Exception]:
        return StoreUnavailable

    def place(self, key: str) -> str:
        return keys.tried(*self._site.place(key))

    async def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        acquire = ("EVAL", ACQUIRE, 1, self.place(key), self._now(), limit, expiry, amount)
        return bool(await self._site.connection.run(acquire))

    async def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        """When the oldest attempt was that counts, and how many do."""
        now = self._now()
        reply = await self._site.connection.run(("EVAL", LOOK, 1, self.place(key), now - expiry, limit))
        oldest, count = reply or (now, 0)
        return float(oldest), count

    async def clear(self, key: str) -> None:
        await self._site.connection.run(("DEL", self.place(key)))

    async def check(self) -> bool:
        try:
            await self._site.connection.ping()
        except StoreUnavailable:
            return False
        return True

    async def incr(self, key: str, expiry: int, amount: int = 1) -> NoReturn:
        raise NotImplementedError("only moving windows")

    async def get(self, key: str) -> NoReturn:
        raise NotImplementedError("only moving windows")

    async def get_expiry(self, key: str) -> NoReturn:
        raise NotImplementedError("only moving windows")

    async def reset(self) -> NoReturn:
        raise NotImplementedError("windows end by themselves")

    def _now(self) -> float:
        return self._site.clock() / 1000
