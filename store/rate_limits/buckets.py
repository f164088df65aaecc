"""Buckets of points that fill up again, one for each subject, of which all processes take."""

from collections import defaultdict
from collections.abc import Mapping

from store import keys
from store.client.commands import Command
from store.scripts.registry import BUCKET
from store.site import Site

AT_ONCE = 100  # buckets in one call of the script, which nothing interrupts


class Buckets:
    """A bucket holds `points`, and `back` points come back in a second."""

    def __init__(self, site: Site, points: int, back: float) -> None:
        self._site = site
        self._points = points
        self._back = back

    async def take(self, taken: Mapping[str, float]) -> dict[str, float]:
        """Take points, and give what is left: less than nothing where more was taken than there was. One round trip."""
        homes: dict[int, list[tuple[str, str]]] = defaultdict(list)
        for subject in taken:
            p, digest = self._site.place(subject)
            homes[p].append((keys.bucket(p, digest), subject))
        parts = [home[start : start + AT_ONCE] for home in homes.values() for start in range(0, len(home), AT_ONCE)]
        replies = await self._site.connection.pipeline([self._taking(part, taken) for part in parts])
        return {
            subject: float(left)
            for part, reply in zip(parts, replies, strict=True)
            for (_, subject), left in zip(part, reply, strict=True)
        }

    def _taking(self, part: list[tuple[str, str]], taken: Mapping[str, float]) -> Command:
        points = [taken[subject] for _, subject in part]
        return BUCKET.command([key for key, _ in part], self._site.clock(), self._points, self._back / 1000, *points)
