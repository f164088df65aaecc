"""
Kinds of keys: what a declaration says, and the texts of keys that are made and parsed by it. A kind is declared once,
beside the commands that write it or in `keys`. Its declaration also says what a key holds, how it gets into a backup
and how `verify` checks it, and gives its row in docs/redis.md.

The tag `{p}` is the partition, a share of the data: all keys of a partition have one hash slot of Redis Cluster, so
that one script may change them all.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cache, partial
from importlib import import_module
from pkgutil import iter_modules
from typing import Literal

import store

TAGGED = re.compile(r"([a-z]+):\{(0|[1-9][0-9]{0,3})\}(?::(.+))?", re.ASCII)  # name, partition and suffix of a key
NEW_LOG = "nothing: a new log begins"  # what the keys of a log are `rebuilt_from`

Type = Literal["hash", "set", "string", "zset", "list", "stream", "channel"]


class Backup(Enum):
    """How a key gets into a store that is restored or moved."""

    COPIED = "copied"
    DERIVED = "derived"  # made from the records of other kinds
    COPIED_BY_MOVE = "copied by `move` only"
    LEFT_OUT = "left out"


class Check(Enum):
    """How `verify` checks a key, besides its type. "And" means: besides the value of the key."""

    ARTICLE = auto()  # and its entries in all sorted sets
    USER = auto()  # and the karma, by all articles of the user
    MEMBERS = auto()  # each member of a sorted set belongs there
    VALUE = auto()  # by its value alone
    FOLLOWS = auto()  # by its value and the other side of each follow
    ANNULLED = auto()  # the votes by the lists of the actions that hold them, and these lists by the votes
    ACTION = auto()  # and its entries in the indexes of actions
    ACTIONS = auto()  # by the actions that it has
    MODERATORS = auto()  # by the roles of the users that it has
    FLAGS = auto()  # and its entries in the queues
    HELD_EDIT = auto()  # and its entries in the queues
    APPEAL = auto()  # and its entries in the queues
    QUEUE = auto()  # by the flags of what it has
    COMMENT = auto()  # and its entries in the indexes of its siblings and the tree
    COMMENTS = auto()  # by the comments, which are in other partitions, and with the karma of the user
    LIST = auto()  # each member of a list, and its mirror
    INBOX = auto()  # by the articles and comments that notify, which are in other partitions
    MAILBOX = auto()  # by its value, and the names by address by the addresses of users
    MAIL = auto()  # by its entry in the queue
    PARTITION = auto()  # once for each partition, after all other keys
    TYPE = auto()  # by its type only


@dataclass(frozen=True, slots=True)
class Text:
    """
    A part of keys: its pattern, and how the table of docs/redis.md shows it.

    `slot` gives the slot (0 to 1,023) of the user, group or article that the text names, if that decides in which
    partition a key is. A text that `is_folded` is stored in lower case.
    """

    shown: str
    pattern: str
    slot: Callable[[str], int] | None = None
    is_folded: bool = False

    def fits(self, text: str) -> bool:
        return re.fullmatch(self.pattern, text) is not None


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """
    A kind of key: called with a partition and the parts that follow it, it gives the text of a key.

    `parts` are what follows the tag; None for a key without a tag. Where the first part has a slot, it names the
    partition. `holds` describes the contents. `record` names the record of a backup that has the key. A key that is
    `rebuilt_from` others can be deleted: `verify`, a reindex or a reader's request makes it again. Keys begin with
    `name`. Where a kind has `names`, they begin with one of these, which is given as the last part.

    A kind with a `member` is a list of somebody: a sorted set whose members name things by the time of their addition
    (unix milliseconds). Its key is in the partition of these things, so that one script can check and list them, and
    an owner has a key in each partition; or, if it names a user by a text with a slot, it `is_with_owner`, in the
    partition of that user, and may have what does not exist any more. Backups and `verify` need no more than the
    declaration. The keys of `mirror` have the same pairs the other way round: the owners by the things, at the same
    times.
    """

    name: str
    type: Type
    parts: tuple[Text, ...] | None
    holds: str
    lifetime: str = "-"
    written_by: str = ""
    backup: Backup = Backup.LEFT_OUT
    record: str = ""
    rebuilt_from: str = ""
    check: Check = Check.TYPE
    names: tuple[str, ...] = ()
    member: "Member | None" = None
    mirror: "Kind | None" = None
    suffix: re.Pattern[str] = field(init=False)
    text: Callable[..., str] = field(init=False)

    def __post_init__(self) -> None:
        after_tag = (self.parts or ())[: -1 if self.names else None]
        object.__setattr__(self, "suffix", re.compile(":".join(part.pattern for part in after_tag)))
        object.__setattr__(self, "text", _builder(self))
        DECLARED.append(self)

    def __call__(self, *parts: int | str) -> str:
        return self.text(*parts)

    @property
    def is_with_owner(self) -> bool:
        """Whether its first part decides in which partition a key is."""
        return bool(self.parts and self.parts[0].slot)


@dataclass(frozen=True, slots=True)
class Member:
    """
    The members of a list: their pattern, and the kind of the keys of what is `named`. `text` makes a member of the part
    of such a key, and `part` the reverse.
    """

    pattern: str
    named: Kind
    text: Callable[[str], str]
    part: Callable[[str], str]

    def fits(self, text: str) -> bool:
        return re.fullmatch(self.pattern, text) is not None and self.named.suffix.fullmatch(self.part(text)) is not None

    def key(self, partition: int, text: str) -> str:
        """The key of what a member names."""
        return self.named(partition, self.part(text))

    def partition_of(self, text: str, partitions: int) -> int:
        """The partition of what a member names."""
        return _partition_of(self.named, 0, self.part(text), partitions)


@dataclass(frozen=True, slots=True)
class Key:
    """A key as it was found in a store. `name` is one of its kind's names, `suffix` what follows the tag."""

    text: str
    kind: Kind
    name: str
    partition: int
    suffix: str


DECLARED: list[Kind] = []  # by the modules that are imported so far


@cache
def declared() -> tuple[Kind, ...]:
    """All kinds: those of `keys`, then others by name. Each module of `store` may declare some: all are imported."""
    shared = [each for each in vars(import_module("store.keys")).values() if isinstance(each, Kind)]
    for module in iter_modules(store.__path__, "store."):
        import_module(module.name)
    return (*shared, *sorted(set(DECLARED) - set(shared), key=lambda kind: kind.name))


@cache
def by_name() -> Mapping[str, Kind]:
    """The kinds of stored keys that have a tag."""
    tagged = [kind for kind in declared() if kind.parts is not None and kind.type != "channel"]
    return {name: kind for kind in tagged for name in kind.names or (kind.name,)}


@cache
def script_key(name: str, partition: int) -> str:
    """
    A key of a partition as scripts get it; of a kind with parts, what all keys of the partition begin with.

    Raises:
        LookupError: no kind of key has this name.
    """
    kind = next((each for each in declared() if name in (each.names or (each.name,))), None)
    if kind is None or kind.parts is None:
        raise LookupError(f"there is no kind of key {name}")
    return f"{name}:{{{partition}}}" + (":" if kind.suffix.pattern else "")


def parse(text: str, partitions: int) -> Key | None:
    """The parts of a key; None if a store with this number of partitions has no such key, or not in this partition."""
    match = TAGGED.fullmatch(text)
    kind = by_name().get(match[1]) if match else None
    if match is None or kind is None:
        return None
    partition, suffix = int(match[2]), match[3] or ""
    if not kind.suffix.fullmatch(suffix) or partition != _partition_of(kind, partition, suffix, partitions):
        return None
    return Key(text, kind, match[1], partition, suffix)


def _partition_of(kind: Kind, partition: int, suffix: str, partitions: int) -> int:
    """The partition to which a key belongs; -1 if there is none."""
    if kind.parts and (slot := kind.parts[0].slot):
        return slot(suffix.split(":")[0]) % partitions
    return partition if partition < partitions else -1


def _builder(kind: Kind) -> Callable[..., str]:
    """A function that makes the text of a key. Pages of articles make many, and `str.format` runs no Python code."""
    if kind.parts is None:
        return kind.name.format
    if kind.names:
        return "{1}:{{{0}}}".format  # such as `score:{0}`, of partition 0 and the name "score"
    build = ":".join((kind.name, "{{{}}}", *["{}"] * len(kind.parts))).format
    return partial(_folded, build) if kind.parts and kind.parts[0].is_folded else build


def _folded(build: Callable[..., str], partition: int, first: str, *others: int | str) -> str:
    return build(partition, first.lower(), *others)
