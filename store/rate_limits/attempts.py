"""How often something may be tried: in windows, where an attempt is counted before it is made."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from store.client.commands import Command
from store.errors import RateLimited
from store.site import Site

if TYPE_CHECKING:
    from store.rate_limits.windows import Limiter


class Window(NamedTuple):
    """At most `most` attempts in `seconds` for a subject, which is whoever or whatever is limited."""

    subject: tuple[str, ...]
    seconds: int
    most: int


class Attempts:
    def __init__(self, site: Site) -> None:
        self._site = site
        self._limiter: Limiter | None = None

    async def count(self, windows: Sequence[Window]) -> Sequence[Command]:
        """
        Count an attempt in all windows, and give the commands that take it back. A round trip a window, all at once.

        Counted first and taken back afterwards, so that those who try at once cannot all be the last that may.

        Raises:
            RateLimited: a window is full; then it counts in none.
        """
        if self._limiter is None:
            self._limiter = await asyncio.to_thread(_limiter, self._site)
        limiter = self._limiter
        counted = dict(zip(windows, await asyncio.gather(*map(limiter.hit, windows)), strict=True))
        back = [limiter.take_back(window) for window in windows if counted[window]]
        if len(back) < len(windows):
            await self.take_back(back)
            raise RateLimited(max([await limiter.free_at(window) for window in windows if not counted[window]]))
        return back

    async def take_back(self, back: Sequence[Command]) -> None:
        await self._site.connection.pipeline(back)


def _limiter(site: Site) -> "Limiter":
    from store.rate_limits.windows import Limiter  # `limits` takes 60 ms to import: no start waits for it

    return Limiter(site)
