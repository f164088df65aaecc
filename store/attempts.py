"""How often something may be tried: sliding windows, each counted by one script before the attempt is made."""

import secrets
from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from store import keys
from store.connection import ATTEMPT
from store.errors import RateLimited
from store.link import Command
from store.site import Site


class Window(NamedTuple):
    """At most `most` attempts in `seconds` for a subject, which is whoever or whatever is limited."""

    subject: tuple[str, ...]
    seconds: int
    most: int


class Attempts:
    def __init__(self, site: Site) -> None:
        self._site = site

    async def count(self, windows: Sequence[Window]) -> Sequence[Command]:
        """
        Count an attempt in all windows, and give the commands that take it back. One round trip.

        Counted first and taken back afterwards, so that those who try at once cannot all be the last that may.

        Raises:
            RateLimited: a window is full; then it counts in none. One round trip more.
        """
        attempt, now = secrets.token_hex(8), self._site.clock()
        places = [self._key(window) for window in windows]
        commands = [
            ATTEMPT.command([key], attempt, now, window.seconds * 1000, window.most)
            for key, window in zip(places, windows, strict=True)
        ]
        back: list[Command] = [("ZREM", key, attempt) for key in places]
        replies = await self._site.connection.pipeline(commands)
        limited = [int(rest[0]) for status, *rest in replies if status == "limited"]
        if limited:
            await self.take_back(back)
            raise RateLimited(max(limited))
        return back

    async def take_back(self, back: Sequence[Command]) -> None:
        await self._site.connection.pipeline(back)

    def _key(self, window: Window) -> str:
        """Subjects are what clients say: only their digest is part of a key."""
        digest = sha256("\n".join((str(window.seconds), *window.subject)).encode("utf-8", "replace")).hexdigest()
        return keys.attempts(int(digest[:8], 16) % self._site.partitions, digest)
