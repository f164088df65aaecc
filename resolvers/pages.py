"""What page of a listing is asked for: the Relay arguments, page numbers and cursors."""

import re
from base64 import b64decode
from binascii import b2a_base64
from math import inf, isfinite
from typing import NamedTuple

from caches import memo
from resolvers.errors import BadInput
from store import rules
from store.listings import Listing, Window
from store.ranking import PAGE_SIZE
from store.records import INSTANTS, Place

SIZES = range(1, 101)
NUMBER = re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,20})?(e[+-][0-9]{1,3})?")  # a value, as Python writes it
ARTICLE = re.compile(r"[0-9]{16}")  # an article's number, as sorted sets hold it
HIGHEST_PAGE = 2**31 - 1
PINNED = "pinned"
LONGEST = 500  # characters of a cursor
SHORT = 60  # characters of a listing's name for which cursors are memoised
URL_SAFE = bytes.maketrans(b"+/", b"-_")


class Positions(NamedTuple):
    """What the cursors of a listing hold: what stands there, and whether its values are instants or change with age."""

    member: re.Pattern[str] = ARTICLE
    by_time: bool = False
    decays: bool = False


ARTICLES, ARTICLES_BY_TIME, DECAYING_ARTICLES = Positions(), Positions(by_time=True), Positions(decays=True)
USERS_BY_TIME = Positions(rules.USERNAME, by_time=True)


class Asked(NamedTuple):
    """The paging arguments of a connection."""

    first: int | None = None
    after: str | None = None
    last: int | None = None
    before: str | None = None
    page: int | None = None

    def size(self, usual: int = PAGE_SIZE) -> int:
        for name, value in (("first", self.first), ("last", self.last)):
            if value is not None and value not in SIZES:
                raise BadInput(f"{name} is 1 to 100, not {value}")
        return self.first or self.last or usual

    def check(self) -> None:
        """Refuse arguments that exclude each other."""
        if self.first is not None and self.last is not None:
            raise BadInput("first and last exclude each other")
        if self.after is not None and self.last is not None:
            raise BadInput("after goes with first; last goes with before")
        if self.before is not None and self.last is None:
            raise BadInput("before goes with last")
        if self.page is not None and (self.after is not None or self.last is not None):
            raise BadInput("page excludes after, before and last")
        if self.page is not None and not 1 <= self.page <= HIGHEST_PAGE:
            raise BadInput(f"page counts from 1, not {self.page}")

    @property
    def cursor(self) -> str | None:
        return self.before if self.last is not None else self.after


def of_articles(listing: Listing, asked: Asked, usual: int = PAGE_SIZE) -> Window:
    """The part of a listing of articles that is asked for."""
    if listing.decay:
        return window(listing.name, asked, DECAYING_ARTICLES, usual)
    return window(listing.name, asked, ARTICLES_BY_TIME if listing.by_time else ARTICLES, usual)


def window(listing: str, asked: Asked, positions: Positions, usual: int = PAGE_SIZE) -> Window:
    """The part of a listing that is asked for."""
    is_small = len(listing) + len(asked.after or "") + len(asked.before or "") <= LONGEST
    return (_window if is_small else _new_window)(listing, asked, positions, usual)


def _new_window(listing: str, asked: Asked, positions: Positions, usual: int) -> Window:
    asked.check()
    size = asked.size(usual)
    skip = size * (asked.page - 1) if asked.page else 0
    if asked.cursor is None:
        return Window(size, asked.last is not None, skip=skip)
    found, at, is_pinned = mark(listing, asked.cursor, positions)
    return Window(size, asked.last is not None, found, skip, at, is_pinned)


_window = memo(1_024, 2_000)(_new_window)


def cursor(listing: str, position: tuple[object, ...]) -> str:
    """An opaque text for a position in a listing."""
    return (_cursor if len(listing) <= SHORT else _new_cursor)(listing, position)


def _new_cursor(listing: str, position: tuple[object, ...]) -> str:
    text = "|".join([listing, *map(str, position)])
    return b2a_base64(text.encode(), newline=False).translate(URL_SAFE, b"=").decode()


_cursor = memo(4_096, 900)(_new_cursor)


def position(listing: str, text: str) -> list[str]:
    """
    What `cursor` was made of.

    Raises:
        BadInput: this is no cursor, or one of another listing.
    """
    if len(text) > LONGEST:
        raise BadInput("this is no cursor")
    try:
        name, *parts = b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True).decode().split("|")
    except ValueError as error:
        raise BadInput("this is no cursor") from error
    if name != listing:
        raise BadInput("this cursor belongs to another listing")
    return parts


def name(listing: str, text: str, names: re.Pattern[str]) -> str:
    """The name of a cursor of a listing by name."""
    found = position(listing, text)
    if len(found) != 1 or not names.fullmatch(found[0]):
        raise BadInput("this is no cursor")
    return found[0]


def place(listing: str, text: str, positions: Positions) -> Place:
    return mark(listing, text, positions)[0]


def mark(listing: str, text: str, positions: Positions) -> tuple[Place, int | None, bool]:
    """The place of a cursor, the instant that it is of where values decay, and whether the listing stands still."""
    try:
        value, member, *more = position(listing, text)
        found = Place(_value(value, positions), member)
        at = _instant(more[0]) if more else None
    except ValueError as error:
        raise BadInput("this is no cursor") from error
    is_pinned = more[1:] == [PINNED]
    is_of_an_instant = is_pinned or len(more) == positions.decays
    if not positions.member.fullmatch(member) or not is_of_an_instant:
        raise BadInput("this is no cursor")
    return found, at, is_pinned


def _value(text: str, positions: Positions) -> float:
    value = float(text) if NUMBER.fullmatch(text) else inf
    if not isfinite(value) or (positions.by_time and not (value.is_integer() and int(value) in INSTANTS)):
        raise ValueError("no value that anything can have there")
    return value


def _instant(text: str) -> int:
    if not text.isdecimal() or not text.isascii() or len(text) > len(str(INSTANTS[-1])) or int(text) not in INSTANTS:
        raise ValueError("no instant")
    return int(text)
