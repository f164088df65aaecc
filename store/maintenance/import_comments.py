"""
Imports comments of other sites in bulk, below imported stories. Nobody is notified of them.

A comment is stored with the story that it is about, so a caller first finds the partition (a share of the data) of each
comment: that of the poster of the story, or what `partitions_of` returns for what was imported before.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from typing import NamedTuple

from store import effects, keys
from store.client import Command
from store.effects import NewEntry
from store.log import Entry
from store.scripts.registry import Script
from store.store import Store
from store.users import creation

IMPORT_COMMENT = Script("import_comment")

AT_ONCE = 500  # users or ids in one round trip


@dataclass(frozen=True, slots=True)
class StoryComment:
    """
    A valid comment, or a deleted one, which has neither poster nor content. `parent` is the id of what it answers: a
    story or a comment. `time` is in unix milliseconds.
    """

    id: str
    parent: str
    poster: str
    time: int
    content: str
    votes: int = 1


class PlacedComment(NamedTuple):
    """A comment, and the partition of the story that it is about."""

    partition: int
    comment: StoryComment


class Status(Enum):
    """What became of a comment that was to be imported."""

    IMPORTED = "imported"
    KNOWN = "known"  # imported before, and not changed
    MISSING = "missing"  # what it answers was not imported
    GONE = "gone"  # the article, or the comment that it answers, was deleted, or only the database has it
    ARCHIVED = "archived"  # only the database has the conversation, and an import does not bring it back


@dataclass(frozen=True, slots=True)
class Result:
    """`answered` is the number of the article or comment that is GONE, else 0."""

    status: Status
    answered: int = 0


@dataclass(frozen=True, slots=True)
class Posters:
    """The name of each user as it is written, by the name in lower case, and how many of these users are new."""

    names: Mapping[str, str]
    created: int


async def partitions_of(store: Store, ids: Collection[str]) -> dict[str, int]:
    """
    The partition of each of these stories and comments that was imported before. One round trip for each `AT_ONCE` ids.

    All partitions are asked, as an id does not tell who the poster of the story was.
    """
    found, rest, partitions = dict[str, int](), iter(ids), range(store.site.partitions)
    while some := list(islice(rest, AT_ONCE)):
        replies = await store.site.redis.pipeline(
            [("HMGET", keys.imported(partition), *some) for partition in partitions]
        )
        for partition, numbers in zip(partitions, replies, strict=True):
            found.update({id: partition for id, number in zip(some, numbers, strict=True) if number})
    return found


async def create_posters(store: Store, joined: Mapping[str, int]) -> Posters:
    """
    Create the users who do not exist yet, without passwords. Two round trips for each `AT_ONCE` users.

    `joined` has for each name when the user joined, in unix milliseconds.
    """
    names, created, rest = dict[str, str](), 0, iter(joined.items())
    while some := list(islice(rest, AT_ONCE)):
        replies = await store.site.redis.pipeline([creation(store.site, name, at) for name, at in some])
        created += sum(status == "created" for (status,) in replies)
        stored = await store.site.redis.pipeline([_stored_name(store, name) for name, _ in some])
        names.update({name.lower(): found for (name, _), found in zip(some, stored, strict=True)})
    return Posters(names, created)


async def import_comments(store: Store, comments: Sequence[PlacedComment], names: Mapping[str, str]) -> list[Result]:
    """
    Import comments, parents first, and return what became of each. A comment that was imported before is not changed.

    One round trip, and one more if there are effects in other partitions. Each comment is one script, so that an
    interrupted import can be repeated. `names` are from `create_posters`.
    """
    commands = [_command(store, partition, comment, names) for partition, comment in comments]
    replies = await store.site.redis.pipeline(commands)
    found: list[NewEntry] = []
    for (partition, comment), (status, *reply) in zip(comments, replies, strict=True):
        if status == "imported":
            found += _entries(store, partition, comment, names, *reply)
    if found:
        await effects.apply(store.site, found)
    return [_result(*reply) for reply in replies]


def _command(store: Store, partition: int, comment: StoryComment, names: Mapping[str, str]) -> Command:
    return store.site.command(
        IMPORT_COMMENT,
        partition,
        store.site.partitions,
        comment.id,
        comment.parent,
        comment.content,
        keys.slot(comment.poster) if comment.poster else "",
        comment.time,
        comment.votes,
        username=names[comment.poster.lower()] if comment.poster else "",
    )


def _entries(
    store: Store,
    partition: int,
    comment: StoryComment,
    names: Mapping[str, str],
    number: str,
    id: str,
    noted: Sequence[int | str],
) -> list[NewEntry]:
    """
    The entry of an imported comment, once for each other partition in which it has an effect. `id` is that of the
    entry, `noted` has each of these partitions, followed by the id of the last earlier entry with an effect there.
    """
    values = {"time": str(comment.time), "up": str(comment.votes)}
    actor = names.get(comment.poster.lower(), "")
    entry = Entry(partition, id, "comment_imported", store.site.clock(), actor, f"comment:{number}", values)
    return effects.new_entries(entry, noted)


def _result(status: str, number: str = "0", *rest: object) -> Result:
    return Result(Status(status), int(number) if status == "gone" else 0)


def _stored_name(store: Store, name: str) -> Command:
    return ("HGET", keys.user(store.site.partition_of_user(name), name), "name")
