"""
The text of every key of the store: one function each, and no such text anywhere else. `key_kinds` says what they hold.

The tag `{p}` is the partition: all keys of a partition share one slot of Redis Cluster, so that one script may change
them all.
"""

from binascii import crc_hqx
from functools import lru_cache

from caches import memo

SLOTS = 1024
MAX_MEMOISED = 40  # characters of a name whose slot is memoised: no user has a longer one
CACHED = ("article:{", "comment:{", "user:{")  # prefixes of the keys that processes cache
CACHED_VOTES = ("voted:{", "downvoted:{")


def slot(username: str) -> int:
    """Which of 1 024 shares a user falls in: CRC16 (XMODEM, as in Redis Cluster) of the folded name."""
    return _slot_of_short(username) if len(username) <= MAX_MEMOISED else _slot(username)


def _slot(username: str) -> int:
    return crc_hqx(username.lower().encode(), 0) % SLOTS


_slot_of_short = memo(8_192, 350)(_slot)


def member(number: int) -> str:
    """An article's number as a member of sorted sets: with a fixed width, so that text order is number order."""
    return f"{number:016d}"


def store() -> str:
    return "store"


def article(p: int, number: int | str) -> str:
    return f"article:{{{p}}}:{number}"


def voted(p: int, number: int | str) -> str:
    return f"voted:{{{p}}}:{number}"


def downvoted(p: int, number: int | str) -> str:
    return f"downvoted:{{{p}}}:{number}"


def sequence(p: int) -> str:
    return f"sequence:{{{p}}}"


def index(p: int, order: str) -> str:
    return f"{order}:{{{p}}}"


def pin(p: int, listing: str, at: int | str) -> str:
    return f"pin:{{{p}}}:{listing}:{at}"


def ranking(p: int) -> str:
    return f"ranking:{{{p}}}"


def next_group(p: int, name: str, order: str) -> str:
    return f"coming:{{{p}}}:{name}:{order}"


def good_articles(p: int) -> str:
    return f"good:{{{p}}}"


def group(p: int, name: str, order: str) -> str:
    return f"group:{{{p}}}:{name}:{order}"


def groups(p: int) -> str:
    return f"groups:{{{p}}}"


def user(p: int, username: str) -> str:
    return f"user:{{{p}}}:{username.lower()}"


def timeline(p: int, username: str) -> str:
    return f"timeline:{{{p}}}:{username.lower()}"


def newest_posts(p: int) -> str:
    return f"posters:{{{p}}}"


def following(p: int, username: str) -> str:
    return f"following:{{{p}}}:{username.lower()}"


def followers(p: int, username: str) -> str:
    return f"followers:{{{p}}}:{username.lower()}"


def session(p: int, digest: str) -> str:
    return f"session:{{{p}}}:{digest}"


def sessions(p: int, username: str) -> str:
    return f"sessions:{{{p}}}:{username.lower()}"


def posted(p: int, username: str, digest: str) -> str:
    return f"posted:{{{p}}}:{username.lower()}:{digest}"


def tried(p: int, digest: str) -> str:
    return f"tried:{{{p}}}:{digest}"


def bucket(p: int, digest: str) -> str:
    return f"bucket:{{{p}}}:{digest}"


def serverkeys(p: int) -> str:
    return f"serverkeys:{{{p}}}"


def imported(p: int) -> str:
    return f"imported:{{{p}}}"


def numbered(p: int) -> str:
    return f"numbered:{{{p}}}"


def mark(p: int | str) -> str:
    return f"mark:{{{p}}}"


def closed(p: int) -> str:
    return f"closed:{{{p}}}"


def lease(p: int, name: str) -> str:
    return f"lease:{{{p}}}:{name}"


def links(p: int, link_digest: str) -> str:
    return f"links:{{{p}}}:{link_digest}"


def comment(p: int, number: int | str) -> str:
    return f"comment:{{{p}}}:{number}"


def replies(p: int, number: int | str, order: str) -> str:
    return f"replies:{{{p}}}:{number}:{order}"


def tree(p: int, number: int | str) -> str:
    return f"tree:{{{p}}}:{number}"


def stubs(p: int, number: int | str) -> str:
    return f"stubs:{{{p}}}:{number}"


def comments(p: int, username: str) -> str:
    return f"comments:{{{p}}}:{username.lower()}"


def inbox(p: int, username: str) -> str:
    return f"inbox:{{{p}}}:{username.lower()}"


def commented(p: int, username: str, digest: str) -> str:
    return f"commented:{{{p}}}:{username.lower()}:{digest}"


def moves(p: int) -> str:
    return f"moves:{{{p}}}"


def pins(p: int, number: int | str) -> str:
    return f"pins:{{{p}}}:{number}"


def pinned(p: int, number: int | str, order: str, moves: int | str) -> str:
    return f"pinned:{{{p}}}:{number}:{order}:{moves}"


def removing(p: int) -> str:
    return f"removing:{{{p}}}"


def events(p: int) -> str:
    return f"events:{{{p}}}"


def log(p: int) -> str:
    return f"log:{{{p}}}"


def effects(p: int) -> str:
    return f"effects:{{{p}}}"


def applied(p: int) -> str:
    return f"applied:{{{p}}}"


def logged(p: int) -> str:
    return f"logged:{{{p}}}"


def consumers(p: int) -> str:
    return f"consumers:{{{p}}}"


def archived(p: int) -> str:
    return f"archived:{{{p}}}"


def moving(p: int) -> str:
    return f"moving:{{{p}}}"


@lru_cache(maxsize=SLOTS)
def partition_keys(p: int, orders: tuple[str, ...]) -> tuple[str, ...]:
    """
    All keys of a partition, as scripts get them in KEYS.

    A key of one article, user, group or session is given without its name, which the script appends: only the script
    reads who the poster of an article is, and which are its groups. Every such key carries the declared tag.
    """
    return (
        article(p, ""),
        voted(p, ""),
        downvoted(p, ""),
        user(p, ""),
        timeline(p, ""),
        f"group:{{{p}}}:",
        groups(p),
        good_articles(p),
        sequence(p),
        session(p, ""),
        f"posted:{{{p}}}:",
        imported(p),
        newest_posts(p),
        ranking(p),
        f"coming:{{{p}}}:",
        *(index(p, order) for order in orders),
        closed(p),
        events(p),
        numbered(p),
        links(p, ""),
        log(p),
        logged(p),
        archived(p),
        moving(p),
        lease(p, "archiver"),
    )


@lru_cache(maxsize=SLOTS)
def comment_keys(p: int, orders: tuple[str, ...]) -> tuple[str, ...]:
    """All keys of a partition that scripts about comments get: those of `partition_keys`, then those of comments."""
    return (
        *partition_keys(p, orders),
        comment(p, ""),
        f"replies:{{{p}}}:",
        tree(p, ""),
        stubs(p, ""),
        f"commented:{{{p}}}:",
        moves(p),
        removing(p),
        comments(p, ""),
        pins(p, ""),
        f"pinned:{{{p}}}:",
        effects(p),
        inbox(p, ""),
    )
