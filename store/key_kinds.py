"""
Declares each kind of key once: type, members, lifetime, writers, whether a backup has it, and how `verify` checks it.
`dump`, `verify`, the tests of backups and moves, and the table of docs/redis.md use these declarations.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Literal

from store import keys
from store.ranking.formulas import ORDERS

TAGGED = re.compile(r"([a-z]+):\{(0|[1-9][0-9]{0,3})\}(?::(.+))?", re.ASCII)
NUMBER = re.compile(r"[1-9][0-9]{0,15}")
USERNAME = re.compile(r"[a-z0-9_-]{2,20}")
GROUP_ORDER = re.compile(rf"[a-z0-9][a-z0-9_-]{{0,49}}:({'|'.join(ORDERS)})")
SINCE = "(?::since:(?:0|[1-9][0-9]{0,15}))?"
PIN = re.compile(rf"(?:group:{GROUP_ORDER.pattern}|({'|'.join(ORDERS)})){SINCE}:(0|[1-9][0-9]{{0,15}})")
LEASE_NAME = re.compile(r"[a-z]+")
LINK_DIGEST = re.compile(r"[0-9a-f]{32}")
DIGEST = re.compile(r"[0-9a-f]{64}")
POSTED = re.compile(rf"{USERNAME.pattern}:{DIGEST.pattern}")
# Written unlike POSTED, so that `_home` tells them apart: these keys are in the partition of the article.
COMMENTED = re.compile(rf"(?:{USERNAME.pattern}):{DIGEST.pattern}")
REPLIES = re.compile(rf"{NUMBER.pattern}:(?:best|votes|time|controversial)")
PLACES_AT_PIN = re.compile(rf"{NUMBER.pattern}:(?:best|votes|controversial):(?:0|{NUMBER.pattern})")
NOTHING = re.compile("")
NEW_LOG = "nothing: a new log begins"

Type = Literal["hash", "set", "string", "zset", "list", "stream", "channel"]


class Backup(Enum):
    """How a key gets into a store that is restored or moved."""

    COPIED = "copied"
    DERIVED = "derived"  # made from the records of other kinds
    MOVED = "copied by `move` only"
    LEFT_OUT = "left out"


class Check(Enum):
    """How `verify` checks a key, besides its type."""

    ARTICLE = auto()  # and its entries in all sorted sets
    USER = auto()  # and its karma, by all articles of the user
    MEMBERS = auto()  # each member of a sorted set belongs there
    VALUE = auto()  # by its value alone
    FOLLOWS = auto()  # by its value and the other side of each follow
    COMMENT = auto()  # and its entries in the indexes of its siblings and the tree
    COMMENTS = auto()  # by the comments, which are in other partitions, and with the karma of the user
    INBOX = auto()  # by the articles and comments that notify, which are in other partitions
    PARTITION = auto()  # once for each partition, after all other keys
    TYPE = auto()  # by its type only


@dataclass(frozen=True, slots=True)
class KeyKind:
    """
    A kind of key. `suffix` is what follows the tag; None for a key without a tag, and for a channel.

    `record` names the record of a dump that has the key. A key that is `rebuilt_from` others can be deleted: `verify`,
    a reindex or a reader's request makes it again. Keys begin with the name of `build`, or one of `names`.
    """

    build: Callable[..., str]
    type: Type
    suffix: re.Pattern[str] | None
    members: str
    lifetime: str = "-"
    written_by: str = ""
    backup: Backup = Backup.LEFT_OUT
    record: str = ""
    rebuilt_from: str = ""
    check: Check = Check.TYPE
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Key:
    """A key as it was found in a store. `name` is one of its kind's names, `suffix` what follows the tag."""

    text: str
    kind: KeyKind
    name: str
    p: int
    suffix: str


DECLARED = (
    KeyKind(
        keys.store,
        "hash",
        None,
        "number of partitions, good_votes, weights, orders, version of links, active: what the indexes are built with;"
        " log: a random text that tells this log from others; archived: the id of the archive in the database",
        written_by="opening, verify, reindex, restore, archive",
        backup=Backup.COPIED,
        record="ranking",
    ),
    KeyKind(
        keys.article,
        "hash",
        NUMBER,
        "title, link, link_digest, content, poster, time, up, down, imported, groups, edited, comments, active, state,"
        " locked, notified",
        written_by="post, edit, regroup, vote, delete, comment, import, archive, unarchive",
        backup=Backup.COPIED,
        record="article",
        check=Check.ARTICLE,
    ),
    KeyKind(
        keys.voted,
        "set",
        NUMBER,
        "usernames of those who voted up",
        lifetime="until a minute after voting closes",
        written_by="post, comment, vote, delete, import",
        backup=Backup.COPIED,
        record="article",
        check=Check.VALUE,
    ),
    KeyKind(
        keys.downvoted,
        "set",
        NUMBER,
        "usernames of those who voted down",
        lifetime="until a minute after voting closes",
        written_by="vote, delete",
        backup=Backup.COPIED,
        record="article",
        check=Check.VALUE,
    ),
    KeyKind(
        keys.comment,
        "hash",
        NUMBER,
        "article, parent, depth, poster, slot (of the poster), content, time, up, down, imported, edited, state, "
        "replies, path, moves, notified",
        written_by="comment, and all commands on comments",
        backup=Backup.COPIED,
        record="comment",
        check=Check.COMMENT,
    ),
    KeyKind(
        keys.replies,
        "zset",
        REPLIES,
        "numbers of the replies to a comment or an article, by the value of an order: best, votes, time, controversial",
        lifetime="while it has replies",
        written_by="comment, vote, delete",
        backup=Backup.DERIVED,
        rebuilt_from="the comments",
        check=Check.MEMBERS,
    ),
    KeyKind(
        keys.tree,
        "zset",
        NUMBER,
        "the comments of an article in the lexical order of their branch paths, with which descendants are counted",
        lifetime="while it has comments",
        written_by="comment, delete",
        backup=Backup.DERIVED,
        record="comment",
        rebuilt_from="the comments",
        check=Check.MEMBERS,
    ),
    KeyKind(
        keys.stubs,
        "zset",
        NUMBER,
        "the members of `tree` that are deleted comments with replies",
        lifetime="while it has such comments",
        written_by="comment, delete",
        backup=Backup.DERIVED,
        rebuilt_from="the comments",
        check=Check.MEMBERS,
    ),
    KeyKind(
        keys.comments,
        "zset",
        USERNAME,
        "the numbers of a user's comments by time",
        lifetime="while the user has comments",
        written_by="comment, delete",
        backup=Backup.DERIVED,
        rebuilt_from="the comments",
        check=Check.COMMENTS,
    ),
    KeyKind(
        keys.inbox,
        "zset",
        USERNAME,
        "what notifies a user, by time: number, reply or mention, and article or comment; the newest 1,000",
        lifetime="while the user has notifications",
        written_by="post, edit, comment, delete",
        backup=Backup.DERIVED,
        rebuilt_from="the articles and comments",
        check=Check.INBOX,
    ),
    KeyKind(
        keys.commented,
        "string",
        COMMENTED,
        "as `posted`, of a comment",
        lifetime="a minute; a day with an idempotency key",
        written_by="comment",
        backup=Backup.COPIED,
        record="commented",
        check=Check.VALUE,
    ),
    KeyKind(
        keys.moves,
        "string",
        NOTHING,
        "how many votes have changed comments: pages of threads tell by it what has moved since a walk began",
        written_by="vote",
    ),
    KeyKind(
        keys.pins,
        "zset",
        NUMBER,
        "the pins of the thread of an article, each as its order and the value of `moves` then, by time",
        lifetime="10 minutes after the last one was made",
        written_by="pin",
        rebuilt_from="a thread",
    ),
    KeyKind(
        keys.pinned,
        "zset",
        PLACES_AT_PIN,
        "as `replies`, the numbers of those that were voted on since a pin was made, with their values at that time",
        lifetime="20 minutes",
        written_by="vote, delete",
        rebuilt_from="a thread",
    ),
    KeyKind(
        keys.removing,
        "zset",
        NOTHING,
        "numbers of deleted articles whose comments are still to be removed, and of deleted comments that are, by the "
        "time of the deletion",
        lifetime="until they are removed",
        written_by="delete",
    ),
    KeyKind(
        keys.sequence,
        "string",
        NOTHING,
        "the sequence of the last number given to a post or a comment",
        written_by="post, comment",
        backup=Backup.COPIED,
        record="sequences",
        rebuilt_from="the articles",
        check=Check.PARTITION,
    ),
    KeyKind(
        keys.index,
        "zset",
        NOTHING,
        "article numbers by the value of an order: one index for each order",
        written_by="post, vote, delete, import",
        backup=Backup.DERIVED,
        rebuilt_from="the articles",
        check=Check.MEMBERS,
        names=ORDERS,
    ),
    KeyKind(
        keys.pin,
        "zset",
        PIN,
        "the first 1,000 places of a listing at an instant, for the next pages",
        lifetime="10 minutes",
        written_by="pin",
        rebuilt_from="a listing",
    ),
    KeyKind(
        keys.ranking,
        "hash",
        NOTHING,
        "the orders that scripts write, and the weights of groups that have their own",
        written_by="reindex, ranking set",
        backup=Backup.COPIED,
        record="ranking",
    ),
    KeyKind(
        keys.next_group,
        "zset",
        GROUP_ORDER,
        "an index of a group by its new weights, while it is built",
        lifetime="until it replaces the index of the group",
        written_by="reindex, then the same as the index of the group",
        rebuilt_from="the articles",
        check=Check.MEMBERS,
        names=("coming",),
    ),
    KeyKind(
        keys.good_articles,
        "zset",
        NOTHING,
        "numbers of good articles by time",
        written_by="post, vote, delete, import",
        backup=Backup.DERIVED,
        rebuilt_from="the articles",
        check=Check.MEMBERS,
        names=("good",),
    ),
    KeyKind(
        keys.group,
        "zset",
        GROUP_ORDER,
        "the same as an index of the whole site, for one group",
        lifetime="while it has articles",
        written_by="post, vote, regroup, delete, import",
        backup=Backup.DERIVED,
        rebuilt_from="the articles",
        check=Check.MEMBERS,
    ),
    KeyKind(
        keys.groups,
        "zset",
        NOTHING,
        "names of the groups that have articles; all scores are 0",
        written_by="post, regroup, delete, import",
        backup=Backup.DERIVED,
        rebuilt_from="the articles",
        check=Check.PARTITION,
    ),
    KeyKind(
        keys.user,
        "hash",
        USERNAME,
        "name (as written), password (argon2id), joined, karma (of articles), comment_karma, seen, inbox_seen, "
        "inbox_dropped (the time of the newest notification that left a full inbox)",
        written_by="register, seen, and all commands that change karma or notify",
        backup=Backup.COPIED,
        record="user",
        check=Check.USER,
    ),
    KeyKind(
        keys.timeline,
        "zset",
        USERNAME,
        "the numbers of a user's articles by time",
        written_by="post, delete, import",
        backup=Backup.DERIVED,
        rebuilt_from="the articles",
        check=Check.MEMBERS,
    ),
    KeyKind(
        keys.newest_posts,
        "zset",
        NOTHING,
        "usernames by the time of their newest article",
        written_by="post, delete, import",
        backup=Backup.DERIVED,
        rebuilt_from="the articles",
        check=Check.PARTITION,
        names=("posters",),
    ),
    KeyKind(
        keys.following,
        "zset",
        USERNAME,
        "usernames that a user follows, by time",
        written_by="follow, unfollow",
        backup=Backup.COPIED,
        record="follows",
        check=Check.FOLLOWS,
    ),
    KeyKind(
        keys.followers,
        "zset",
        USERNAME,
        "usernames that follow a user, by time",
        written_by="follow, unfollow",
        backup=Backup.DERIVED,
        rebuilt_from="following",
        check=Check.FOLLOWS,
    ),
    KeyKind(
        keys.session,
        "string",
        DIGEST,
        "username of the session whose token has this SHA-256, and when it ends",
        lifetime="UPVOTE_SESSION_TTL",
        written_by="sessions, register",
        backup=Backup.MOVED,
        record="session",
        check=Check.VALUE,
    ),
    KeyKind(
        keys.sessions,
        "zset",
        USERNAME,
        "the SHA-256 of a user's tokens, by when the sessions end",
        lifetime="UPVOTE_SESSION_TTL",
        written_by="sessions, register",
        backup=Backup.MOVED,
        record="session",
    ),
    KeyKind(
        keys.posted,
        "string",
        POSTED,
        "number and time of a post, and a digest of its input or call; by the digest of its idempotency key or input",
        lifetime="a minute; a day with an idempotency key",
        written_by="post",
        backup=Backup.COPIED,
        record="posted",
        check=Check.VALUE,
    ),
    KeyKind(
        keys.tried,
        "list",
        DIGEST,
        "times of recent attempts, the newest first; the digest is of the action and of the user or address",
        lifetime="up to a day",
        written_by="rate limits",
    ),
    KeyKind(
        keys.bucket,
        "string",
        DIGEST,
        "remaining points, and when they were counted; the digest is of a user, a server key or an address",
        lifetime="until it is full",
        written_by="rate limits",
    ),
    KeyKind(
        keys.serverkeys,
        "hash",
        NOTHING,
        "SHA-256 of the secret of each server key, and when it was created, by name; in partition 0",
        written_by="key create, key revoke",
        backup=Backup.COPIED,
        record="serverkeys",
        check=Check.PARTITION,
    ),
    KeyKind(
        keys.imported,
        "hash",
        NOTHING,
        "number of each imported story and comment, by its id in the file",
        written_by="import",
        backup=Backup.COPIED,
        record="imported",
        check=Check.PARTITION,
    ),
    KeyKind(
        keys.numbered,
        "zset",
        NOTHING,
        "the sequence of the number of each imported story and comment, as member and as score",
        written_by="import",
        backup=Backup.DERIVED,
        rebuilt_from="imported",
        check=Check.PARTITION,
    ),
    KeyKind(
        keys.mark,
        "string",
        NOTHING,
        "1: written after the writes that replicas have to confirm",
        lifetime="a second",
        written_by="every write, with UPVOTE_CONFIRMING_REPLICAS",
    ),
    KeyKind(
        keys.closed,
        "string",
        NOTHING,
        "1: the partition takes no writes, because the store is being moved or was moved",
        lifetime="a minute; no limit once it was moved",
        written_by="move",
    ),
    KeyKind(
        keys.lease,
        "string",
        LEASE_NAME,
        "a random text of the one process that does a task for all; in partition 0, `archiver` in each partition",
        lifetime="seconds",
        written_by="the server's tasks",
    ),
    KeyKind(
        keys.links,
        "zset",
        LINK_DIGEST,
        "numbers of the articles with a link, by time; the digest is of the link without tracking parameters",
        lifetime="while it has articles",
        written_by="post, edit, delete, import, reindex",
        backup=Backup.DERIVED,
        rebuilt_from="the articles",
        check=Check.MEMBERS,
    ),
    KeyKind(
        keys.log,
        "stream",
        NOTHING,
        "an entry for each change, with the new values",
        lifetime="UPVOTE_LOG_SECONDS, and until all consumers have them",
        written_by="every script that changes an article, a user, a follow or a ranking",
        rebuilt_from=NEW_LOG,
    ),
    KeyKind(
        keys.logged,
        "hash",
        NOTHING,
        "ids of the entries of the log with texts of an article or a comment, by its number",
        lifetime="as long as these entries",
        written_by="post, comment, edit, delete, import",
        rebuilt_from=NEW_LOG,
    ),
    KeyKind(
        keys.consumers,
        "hash",
        NOTHING,
        "id of the last entry of the log that each consumer has taken; trimmed: id of the last one that was removed",
        written_by="consumers, the trimming of the log",
        rebuilt_from=NEW_LOG,
    ),
    KeyKind(
        keys.effects,
        "hash",
        NOTHING,
        "id of the last entry of this partition's log with an effect in another partition, by that partition",
        written_by="follow, unfollow, post, comment, edit, vote, delete, import",
    ),
    KeyKind(
        keys.applied,
        "hash",
        NOTHING,
        "id of the last entry of another partition's log whose effect is applied in this partition, by that partition",
        written_by="the same, and a task of every server",
    ),
    KeyKind(
        keys.archived,
        "hash",
        NOTHING,
        "of the articles that are in the database only: how many, by group and user, and the greatest value by listing",
        written_by="archive, unarchive, delete, reindex",
        check=Check.PARTITION,
    ),
    KeyKind(
        keys.moving,
        "set",
        NOTHING,
        "numbers of articles whose places in the database do not count: they are about to leave Redis, or came back",
        lifetime="seconds",
        written_by="archive, unarchive",
    ),
    KeyKind(
        keys.events,
        "channel",
        None,
        "what changed: kind, number of the article or comment or 0, username or -, id of the log's entry, article of a "
        "comment, groups",
        written_by="every script that writes to the log",
    ),
)
KINDS = {name: kind for kind in DECLARED if kind.suffix for name in kind.names or (kind.build.__name__,)}


def parse(text: str, partitions: int) -> Key | None:
    """The parts of a key; None if a store of so many partitions has no such key, or not in this partition."""
    match = TAGGED.fullmatch(text)
    kind = KINDS.get(match[1]) if match else None
    if match is None or kind is None or kind.suffix is None:
        return None
    p, suffix = int(match[2]), match[3] or ""
    if not kind.suffix.fullmatch(suffix) or p != _home(kind.suffix, p, suffix, partitions):
        return None
    return Key(text, kind, match[1], p, suffix)


def _home(pattern: re.Pattern[str], p: int, suffix: str, partitions: int) -> int:
    """The partition to which a key belongs; -1 if there is none."""
    if pattern in (NUMBER, REPLIES, PLACES_AT_PIN):
        return int(suffix.split(":")[0]) % keys.SLOTS % partitions
    if pattern in (USERNAME, POSTED):
        return keys.slot(suffix.split(":")[0]) % partitions
    return p if p < partitions else -1
