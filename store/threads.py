"""
Threads: the comments of an article, or those below a comment, in pre-order. A page is one script; its cost depends on
the number of its places, not on the size of the thread. A walk is what a reader does who goes from page to page. A
pinned walk has the order that the comments had when its pin was made, whatever votes move since.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from sys import getsizeof
from typing import NamedTuple

from store import keys, listings
from store.client import Argument
from store.errors import StoreUnavailable
from store.keys import NUMBER
from store.kinds import Backup, Check, Kind, Text
from store.listings import PARTITION_PAGES, Window
from store.queries import Read
from store.records import PartitionPage, Position
from store.scripts.registry import Script
from store.site import Site

ANCESTORS = Script("ancestors")
DESCENDANT_COUNTS = Script("descendant_counts")
IS_UNDER = Script("is_under")
PIN_THREAD = Script("pin_thread")
REPLIES_PAGE = Script("replies_page")
THREAD_PAGE = Script("thread_page")

MAX_PLACES = 500  # of a page
MAX_ANCESTORS = 1_000  # that are read of a comment
PLACE_BYTES = 600  # of a decoded place without the levels above it
LEVEL_BYTES = 8  # of a level, which later places share
UNLIMITED = 2**31  # as `max_depth` of a page: no comment is that deep
PIN_LIFETIME = 10 * 60 * 1000  # milliseconds
SHARING_PERIOD = 60 * 1000  # milliseconds in which readers of a thread share a pin of an order
PLACE_LIFETIME = 2 * PIN_LIFETIME  # milliseconds, of places kept for a pin, which may live as long as the next one
MAX_PINS = 5_000  # unexpired pins of threads of one process
OUTER_LEVELS = INNER_LEVELS = 32  # ancestors that a position keeps; those between are looked up

PINNED_ORDER = Text("ORDER", "(?:best|votes|controversial)")
MOVES = Text("MOVES", "(?:0|[1-9][0-9]{0,15})")  # a value of the key `moves`

REPLY_ORDER = Text("ORDER", "(?:best|votes|time|controversial)")

REPLIES = Kind(
    "replies",
    "zset",
    parts=(NUMBER, REPLY_ORDER),
    holds="numbers of the replies to a comment or an article, by the value of an order: best, and if there are more "
    "than 16 also votes, time and controversial",
    lifetime="while it has replies",
    written_by="comment, vote, delete",
    backup=Backup.DERIVED,
    rebuilt_from="the comments",
    check=Check.MEMBERS,
)
STUBS = Kind(
    "stubs",
    "zset",
    parts=(NUMBER,),
    holds="the members of `tree` that are not visible: deleted comments with replies, pending and removed ones",
    lifetime="while it has such comments",
    written_by="comment, delete, remove, approve",
    backup=Backup.DERIVED,
    rebuilt_from="the comments",
    check=Check.MEMBERS,
)
LATEST = Kind(
    "latest",
    "zset",
    parts=(NUMBER,),
    holds="numbers of the visible comments of an article by time, once it has more than 128 comments: when the newest "
    "is deleted, `ACTIVE` goes back to the one before",
    lifetime="while it has such comments",
    written_by="comment, import, delete",
    backup=Backup.DERIVED,
    rebuilt_from="the comments",
    check=Check.MEMBERS,
)

moves = Kind(
    "moves",
    "string",
    parts=(),
    holds="how many votes have changed comments: pages of threads tell by it what has moved since a walk began",
    written_by="vote",
)
moved = Kind(
    "moved",
    "hash",
    parts=(NUMBER,),
    holds="the last votes that moved a comment of an article, each with the counts before it, by the number of the "
    "comment: the next page of a walk leaves out what has moved since it began, so that nothing is shown twice",
    lifetime="a day after the last vote on a comment of the article",
    written_by="vote, annulVotes, banUser, revertModeration",
)
pins = Kind(
    "pins",
    "zset",
    parts=(NUMBER,),
    holds="the pins of the thread of an article, each as its order and the value of `moves` then, by time",
    lifetime="10 minutes after the last one was made",
    written_by="pin",
    rebuilt_from="a thread",
)
pinned = Kind(
    "pinned",
    "zset",
    parts=(NUMBER, PINNED_ORDER, MOVES),
    holds="as `replies`, the numbers of those that were voted on since a pin was made, with their values at that time",
    lifetime="20 minutes",
    written_by="vote, delete",
    rebuilt_from="a thread",
)


class CommentOrder(Enum):
    """What the replies to one comment, or to the article, are ordered by."""

    BEST = "best"
    VOTES = "votes"
    NEWEST = "newest"
    OLDEST = "oldest"
    CONTROVERSIAL = "controversial"

    @property
    def stored_index(self) -> str:
        """The index that has this order."""
        return "time" if self in (CommentOrder.NEWEST, CommentOrder.OLDEST) else self.value

    @property
    def is_ascending(self) -> bool:
        """Whether the lowest value, and of equal values the lowest number, is first."""
        return self is CommentOrder.OLDEST


class ThreadLevel(NamedTuple):
    """A comment on the way to a place, with the value that it had when the page was read."""

    depth: int
    position: Position


class ThreadPosition(NamedTuple):
    """
    A place of a thread: its levels from the outermost ancestor to itself, of which some in the middle may be missing.

    `moves` is how many votes had changed comments of the partition (the share of the data) when the walk began. A page
    that goes on from here leaves out each comment that, at some time since then, had a place which earlier pages may
    have shown. Without levels it is the beginning of the thread, or, upwards, its end.

    A position with `newest` is of a pinned walk, which shows the comments as they were ordered when the pin was made:
    `moves` is from that time, `newest` the highest number of a comment that the walk shows.
    """

    levels: tuple[ThreadLevel, ...]
    moves: int
    newest: int | None = None


@dataclass(frozen=True, slots=True)
class ThreadWindow:
    """The first `count` places below the position `beyond`, or, upwards, the last `count` above it."""

    count: int
    upwards: bool = False
    beyond: ThreadPosition | None = None


class ThreadPlace(NamedTuple):
    """
    A comment on a page. `depth` counts from where the thread begins. `hidden` counts visible descendants that are too
    deep to show.
    """

    number: int
    depth: int
    hidden: int
    position: ThreadPosition


@dataclass(frozen=True, slots=True, eq=False)
class ThreadPage:
    """
    Pages are compared by identity, as each has many positions; a page that is read again is the same object.

    `is_pinned` is False, too, if the pin of the position has expired: the page has the present order.
    """

    places: tuple[ThreadPlace, ...]
    has_before: bool
    has_after: bool
    is_pinned: bool = False


async def pin(site: Site, article: int, order: CommentOrder) -> ThreadPosition | None:
    """
    Begin a pinned walk through a thread, or a part of it. The position that is returned is before the first place and,
    for a page upwards, after the last one.

    None if there is no such article, if the store takes no writes, or if this process has `MAX_PINS` unexpired pins.
    Walks that begin within a minute share a pin, but each has the comments that were posted before it began: a comment
    posted after the pin has the value that it had at first. By time no pin is needed. One round trip.
    """
    partition = site.partition_of_article(article)
    if order.stored_index == "time":
        sequence = await site.redis.run(("GET", keys.sequence(partition)))
        return ThreadPosition(levels=(), moves=0, newest=_highest_number(sequence or 0))
    script_keys = [
        keys.article(partition, article),
        pins(partition, article),
        moves(partition),
        keys.sequence(partition),
    ]
    may_pin = "" if _is_full(site) else "new"
    now, index = site.clock(), order.stored_index
    command = PIN_THREAD.command(script_keys, index, now, SHARING_PERIOD, PIN_LIFETIME, may_pin)
    try:
        status, *found = await site.redis.run(command)
    except StoreUnavailable:
        return None
    if status not in ("known", "pinned"):
        return None
    if status == "pinned":
        site.thread_pin_expiries.append(now + PIN_LIFETIME)
    votes_so_far, sequence = found
    return ThreadPosition(levels=(), moves=int(votes_so_far), newest=_highest_number(sequence))


def page(
    site: Site,
    article: int,
    order: CommentOrder,
    window: ThreadWindow,
    *,
    under: int | None = None,
    max_depth: int = 10,
) -> Read[ThreadPage]:
    """
    The read of a page of a thread: of the whole, or of the comments below `under`, at most `max_depth` levels deep.

    Depth 0 are the replies to the article, or to `under`. At most `MAX_PLACES` places; one round trip. Beyond a
    position of a pinned walk, the page goes on with the walk; `pin` begins one.
    """
    partition = site.partition_of_article(article)
    script_keys = [
        keys.comment(partition, ""),
        REPLIES(partition, "", "")[:-1],  # what keys of this kind begin with, and so the last one
        keys.tree(partition, article),
        STUBS(partition, article),
        moves(partition),
        pins(partition, article),
        pinned(partition, "", "", "")[:-2],  # likewise
        moved(partition, article),
    ]
    beyond = window.beyond
    newest = beyond.newest if beyond else None
    levels: list[Argument] = []
    for level in beyond.levels if beyond else ():
        levels += [level.depth, repr(level.position.value), level.position.member]
    command = THREAD_PAGE.command(
        script_keys,
        article if under is None else under,
        order.stored_index,
        "asc" if order.is_ascending else "desc",
        "up" if window.upwards else "down",
        min(window.count, MAX_PLACES),
        max_depth,
        repr(site.policy.best_z),
        beyond.moves if beyond else "",
        "" if newest is None else newest,
        *levels,
    )
    return Read(command, _thread_page, (newest,))


def siblings_name(parent: int, order: CommentOrder) -> str:
    """The name of the replies to a comment or an article as a listing, for its cursors."""
    return f"replies:{parent}:{order.value}"


def siblings_page(site: Site, article: int, parent: int, order: CommentOrder, window: Window) -> Read[PartitionPage]:
    """The read of a page of the replies to a comment or to the article. One round trip."""
    partition, beyond = site.partition_of_article(article), window.beyond
    command = REPLIES_PAGE.command(
        [keys.comment(partition, ""), REPLIES(partition, parent, "")],
        order.stored_index,
        "asc" if order.is_ascending else "desc",
        "up" if window.upwards else "down",
        window.count,
        window.skip,
        *((repr(beyond.value), beyond.member) if beyond else ("", "")),
    )
    return Read(command, listings.decode_partition_page)


def descendant_counts(site: Site, partition: int, numbers: Sequence[int]) -> Read[dict[int, int]]:
    """The read of the number of visible descendants of comments of one partition."""
    script_keys = [keys.comment(partition, ""), keys.tree(partition, ""), STUBS(partition, "")]
    return Read(DESCENDANT_COUNTS.command(script_keys, *numbers), _by_number, (tuple(numbers),))


def ancestors(site: Site, number: int) -> Read[tuple[int, ...]]:
    """The read of the comments above a comment, the outermost first; the `MAX_ANCESTORS` nearest if there are more."""
    partition = site.partition_of_article(number)
    return Read(ANCESTORS.command([keys.comment(partition, "")], number, MAX_ANCESTORS), _ancestors)


def are_under(site: Site, above: int, numbers: Sequence[int]) -> Read[dict[int, int]]:
    """The read of which comments, of the same article, are descendants of another one: 1 or 0 by number."""
    partition = site.partition_of_article(above)
    return Read(IS_UNDER.command([keys.comment(partition, "")], above, *numbers), _by_number, (tuple(numbers),))


def highest_number(site: Site, article: int) -> Read[int]:
    """The read of a number that is below those of all comments that are posted to an article later."""
    return Read(("GET", keys.sequence(site.partition_of_article(article))), _highest_number)


def _highest_number(sequence: int | str | None) -> int:
    """The highest number that a comment can have whose sequence is not above this one, the last that was given."""
    return (int(sequence or 0) + 1) * keys.SLOTS - 1


def _is_full(site: Site) -> bool:
    while site.thread_pin_expiries and site.thread_pin_expiries[0] <= site.clock():
        site.thread_pin_expiries.popleft()
    return len(site.thread_pin_expiries) >= MAX_PINS


def _thread_page(newest: int | None, reply: str) -> ThreadPage:
    """Decode a reply of `thread_page.lua`. `newest` is the field of the position beyond which the page is."""
    known: ThreadPage | None = PARTITION_PAGES.get((newest, reply))
    if known is None:
        known = _new_thread_page(newest, reply)
        levels = sum([len(place.position.levels) for place in known.places])
        size = getsizeof(reply) + PLACE_BYTES * len(known.places) + LEVEL_BYTES * levels
        PARTITION_PAGES.put((newest, reply), known, size)
    return known


def _new_thread_page(newest: int | None, reply: str) -> ThreadPage:
    moves, pinned, before, after, ancestor_count, *flat = reply.split(" ")
    is_pinned = pinned == "1"
    # three words for each ancestor of the first place, then four for each place
    end = 3 * int(ancestor_count)
    path = [
        ThreadLevel(int(depth), Position(float(value), member))
        for depth, value, member in zip(flat[0:end:3], flat[1:end:3], flat[2:end:3], strict=True)
    ]
    places = []
    for depth, value, member, hidden in zip(*(flat[end + i :: 4] for i in range(4)), strict=True):
        while path and path[-1].depth >= int(depth):
            path.pop()
        path.append(ThreadLevel(int(depth), Position(float(value), member)))
        position = ThreadPosition(kept_levels(path), int(moves), newest if is_pinned else None)
        places.append(ThreadPlace(int(member), int(depth), int(hidden), position))
    return ThreadPage(tuple(places), before == "1", after == "1", is_pinned)


def kept_levels(path: Sequence[ThreadLevel]) -> tuple[ThreadLevel, ...]:
    """The levels of a place that its position keeps."""
    if len(path) <= OUTER_LEVELS + INNER_LEVELS:
        return tuple(path)
    return (*path[:OUTER_LEVELS], *path[-INNER_LEVELS:])


def _by_number(numbers: Sequence[int], reply: Sequence[int]) -> dict[int, int]:
    return dict(zip(numbers, reply, strict=True))


def _ancestors(reply: Sequence[str]) -> tuple[int, ...]:
    return tuple(int(number) for number in reversed(reply))
