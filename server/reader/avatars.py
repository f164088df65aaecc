"""
Pictures of users, as `reader/src/components/Avatar.tsx` has them: from a host that UPVOTE_AVATAR_HOSTS allows, else a
pattern of 5 x 5 cells that is drawn from the bits of a hash of the name.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.requests import Request

SIDE = 5  # cells
DRAWN = 3  # columns that have bits of their own: the other two mirror the first two


@dataclass(frozen=True, slots=True)
class Picture:
    """`url` is "" for one that is drawn: `cells`, each as (column, row), in a colour of this `hue`, in degrees."""

    url: str
    hue: int = 0
    cells: Sequence[tuple[int, int]] = ()


def picture_of(request: Request, username: str, url: str | None) -> Picture:
    """The picture of a user: the one at `url`, the user's field `avatarUrl`, if its host is allowed."""
    if url and urlsplit(url).netloc in request.app.state.store.users.offers.avatar_hosts:
        return Picture(url)
    bits = fnv1a(username.lower())
    cells = [(x, y) for y in range(SIDE) for x in range(SIDE) if bits >> (y * DRAWN + min(x, SIDE - 1 - x)) & 1]
    return Picture(url="", hue=bits % 360, cells=cells)


def fnv1a(text: str) -> int:
    """The hash FNV-1a, of 32 bits (http://www.isthe.com/chongo/tech/comp/fnv/), of an ASCII text."""
    found = 0x811C9DC5
    for byte in text.encode():
        found = (found ^ byte) * 0x01000193 & 0xFFFFFFFF
    return found
