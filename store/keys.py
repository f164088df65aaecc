"""
Every key of the store, one function each; no key text stands anywhere else.

The tag `{p}` is the partition: all keys of a partition share one slot of Redis Cluster, so that one script may touch
them all. Each docstring reads: type | what it holds | lifetime | writers.
"""

import re
from binascii import crc_hqx
from functools import lru_cache

from caches import memo

SLOTS = 1024
SHORT = 40  # characters of a name whose slot is memoised: no user has a longer one
CACHED = ("article:{", "user:{")  # what keys begin with that processes keep what they read of
CACHED_VOTES = ("voted:{", "downvoted:{")
TAGGED = re.compile(r"([a-z]+):\{(0|[1-9][0-9]{0,3})\}(?::(.+))?", re.ASCII)


def slot(username: str) -> int:
    """Which of 1 024 shares a user falls in: CRC16 (XMODEM, as in Redis Cluster) of the folded name."""
    return _slot_of_short(username) if len(username) <= SHORT else _slot(username)


def _slot(username: str) -> int:
    return crc_hqx(username.lower().encode(), 0) % SLOTS


_slot_of_short = memo(8_192, 350)(_slot)


def member(number: int) -> str:
    """An article's number as sorted sets hold it: of fixed width, so that text order is number order."""
    return f"{number:016d}"


def store() -> str:
    """hash | partitions, good_votes, weights, orders: what the indexes have | - | opening, verify, reindex, restore"""
    return "store"


def article(p: int, number: int | str) -> str:
    """hash | title, link, content, poster, time, up, down, imported, groups, edited | - | every script but register"""
    return f"article:{{{p}}}:{number}"


def voted(p: int, number: int | str) -> str:
    """set | usernames of those who voted up | until a minute after voting closes | post, vote, delete, import"""
    return f"voted:{{{p}}}:{number}"


def downvoted(p: int, number: int | str) -> str:
    """set | usernames of those who voted down | until a minute after voting closes | vote, delete"""
    return f"downvoted:{{{p}}}:{number}"


def sequence(p: int) -> str:
    """string | the sequence of the last number given to a post | - | post"""
    return f"sequence:{{{p}}}"


def index(p: int, order: str) -> str:
    """zset | article numbers by what an order sorts by: one index per order | - | post, vote, delete, import"""
    return f"{order}:{{{p}}}"


def pin(p: int, listing: str, at: int | str) -> str:
    """zset | the first places of a listing at an instant, for readers who page on | 10 minutes | pin"""
    return f"pin:{{{p}}}:{listing}:{at}"


def ranking(p: int) -> str:
    """hash | orders that are written, weights of groups that have their own | - | reindex, ranking set"""
    return f"ranking:{{{p}}}"


def coming(p: int, name: str, order: str) -> str:
    """zset | an index of a group by its new weights | until it takes the place of the old one | as the old one"""
    return f"coming:{{{p}}}:{name}:{order}"


def good(p: int) -> str:
    """zset | numbers of good articles by time | - | post, vote, delete, import"""
    return f"good:{{{p}}}"


def group(p: int, name: str, order: str) -> str:
    """zset | the same indexes for one group | while it has articles | post, vote, regroup, delete, import"""
    return f"group:{{{p}}}:{name}:{order}"


def groups(p: int) -> str:
    """zset | names of the groups that have articles, all with value 0 | - | post, regroup, delete, import"""
    return f"groups:{{{p}}}"


def user(p: int, username: str) -> str:
    """hash | name (as written), password (argon2id), joined, karma, seen | - | register, seen, those that move karma"""
    return f"user:{{{p}}}:{username.lower()}"


def timeline(p: int, username: str) -> str:
    """zset | the numbers of a user's articles by time | - | post, delete, import"""
    return f"timeline:{{{p}}}:{username.lower()}"


def posters(p: int) -> str:
    """zset | usernames by the time of their newest article | - | post, delete, import"""
    return f"posters:{{{p}}}"


def following(p: int, username: str) -> str:
    """zset | usernames of those whom a user follows, by time | - | follow, unfollow"""
    return f"following:{{{p}}}:{username.lower()}"


def followers(p: int, username: str) -> str:
    """zset | usernames of those who follow a user, by time | - | follow, unfollow"""
    return f"followers:{{{p}}}:{username.lower()}"


def session(p: int, digest: str) -> str:
    """string | whose session has a token of this SHA-256, and until when | UPVOTE_SESSION_TTL | sessions, register"""
    return f"session:{{{p}}}:{digest}"


def sessions(p: int, username: str) -> str:
    """zset | the SHA-256 of the tokens of a user, by when they end | UPVOTE_SESSION_TTL | sessions, register"""
    return f"sessions:{{{p}}}:{username.lower()}"


def posted(p: int, username: str, digest: str) -> str:
    """string | number, time and input digest of a post | 10 seconds; a day where it has an idempotency key | post"""
    return f"posted:{{{p}}}:{username.lower()}:{digest}"


def tried(p: int, digest: str) -> str:
    """list | when somebody tried something, as their SHA-256 says, the newest first | up to a day | attempts"""
    return f"tried:{{{p}}}:{digest}"


def bucket(p: int, digest: str) -> str:
    """string | points left to an address or a user, as their SHA-256 says, and when | until it is full | buckets"""
    return f"bucket:{{{p}}}:{digest}"


def imported(p: int) -> str:
    """hash | article number of each imported story, by the story's own id | - | import"""
    return f"imported:{{{p}}}"


def numbered(p: int) -> str:
    """zset | the sequence of the number of each imported story, by itself | - | import"""
    return f"numbered:{{{p}}}"


def mark(p: int | str) -> str:
    """string | 1, written behind what replicas have to confirm | a second | writes, with UPVOTE_CONFIRMING_REPLICAS"""
    return f"mark:{{{p}}}"


def closed(p: int) -> str:
    """string | 1, where a partition takes no writes: it is moved, or was | a minute; for ever if it was | move"""
    return f"closed:{{{p}}}"


def events(p: int) -> str:
    """channel | what changed: kind, article number, poster, groups | - | post, vote, edit, regroup, delete, import"""
    return f"events:{{{p}}}"


@lru_cache(maxsize=SLOTS)
def home(p: int, orders: tuple[str, ...]) -> tuple[str, ...]:
    """
    All keys of a partition, as scripts get them in KEYS.

    A key of one article, user, group or session is given without its name, which the script appends: it learns the
    poster and the groups of an article only inside, and every such key carries the declared tag.
    """
    return (
        article(p, ""),
        voted(p, ""),
        downvoted(p, ""),
        user(p, ""),
        timeline(p, ""),
        f"group:{{{p}}}:",
        groups(p),
        good(p),
        sequence(p),
        session(p, ""),
        f"posted:{{{p}}}:",
        imported(p),
        posters(p),
        ranking(p),
        f"coming:{{{p}}}:",
        *(index(p, order) for order in orders),
        closed(p),
        events(p),
        numbered(p),
    )


def parts(text: str) -> tuple[str, int, str] | None:
    """What a key with a tag is made of: its kind, its partition, and what follows; None of any other text."""
    match = TAGGED.fullmatch(text)
    return (match[1], int(match[2]), match[3] or "") if match else None
