"""
Backup records of articles and comments, with those who voted on them while voting is open. What is derived from other
records, such as the place of a comment in its thread, is not in them.
"""

import re
from abc import abstractmethod
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from store import held_edits, keys, links, notifications, records, threads
from store.client import Argument, Command
from store.kinds import Key, Kind
from store.maintenance.records.record import (
    COUNT,
    INSTANT,
    MalformedRecord,
    OnSkipped,
    Record,
    check_fields,
    check_number,
    flat,
    shown,
    valid,
    without_malformed,
)
from store.scripts.registry import Script
from store.site import Site
from store.threads import CommentOrder, ThreadWindow

VOTERS_AT_ONCE = 10_000  # in one command
RECORDS_AT_ONCE = 100  # in a round trip
NUMBER = re.compile(keys.NUMBER.pattern)
NOTIFIED = re.compile("[a-z0-9_: -]{1,10000}")
ARTICLE_FIELDS = {
    "title": re.compile(".+", re.DOTALL),
    "poster": records.NAME,
    "time": INSTANT,
    "up": COUNT,
    "down": COUNT,
    "groups": re.compile("[a-z0-9_ -]{0,1000}"),
}
OPTIONAL_ARTICLE_FIELDS = {
    "imported": COUNT,
    "edited": INSTANT,
    "notified": NOTIFIED,
    "state": re.compile("pending|removed"),
    "locked": re.compile("1"),
    held_edits.HELD_BY: held_edits.HOLD_WORDS,
}
DERIVED_ARTICLE_FIELDS = {links.FIELD, "comments", "active", "away", "written"}
COMMENT_FIELDS = {"article": NUMBER, "time": INSTANT, "up": COUNT, "down": COUNT}
OPTIONAL_COMMENT_FIELDS = {
    "parent": NUMBER,
    "poster": records.NAME,
    "content": re.compile(".+", re.DOTALL),
    "imported": COUNT,
    "edited": INSTANT,
    "state": re.compile("pending|removed|deleted"),
    "notified": NOTIFIED,
    held_edits.HELD_BY: held_edits.HOLD_WORDS,
}
DERIVED_COMMENT_FIELDS = {"path", "moves", "replies", "depth", "slot", "bare", "away"}
DROPPABLE = {"edited": INSTANT, held_edits.HELD_BY: held_edits.HOLD_WORDS}  # left out if it is malformed

DUMP_ARTICLE = Script("dump_article")  # reads an article or a comment, with those who voted on it
RESTORE_ARTICLE = Script("restore_article")
RESTORE_COMMENT = Script("restore_comment")


@dataclass(frozen=True, slots=True)
class VotedOnRecord(Record):
    """An article or a comment. Usernames of those who voted are empty once voting is closed."""

    number: int
    fields: dict[str, str]
    upvoters: list[str]
    downvoters: list[str]

    @property
    def voters(self) -> int:
        return len(self.upvoters) + len(self.downvoters)

    def check(self) -> None:
        where = f"{self.kind} {self.number}"
        check_number(where, self.number)
        self._check_fields(where)
        for voter in (*self.upvoters, *self.downvoters):
            if type(voter) is not str or not voter:
                raise MalformedRecord(f"{where}: {shown(voter)} is no voter")

    @abstractmethod
    def _check_fields(self, where: str) -> None: ...

    def voter_commands(self, site: Site) -> Iterator[Command]:
        """The commands that restore the voters. They come before `commands` of any record: scripts count voters."""
        partition = site.partition_of_article(self.number)
        for kind, voters in ((keys.voted, self.upvoters), (keys.downvoted, self.downvoters)):
            for start in range(0, len(voters), VOTERS_AT_ONCE):
                yield ("SADD", kind(partition, self.number), *voters[start : start + VOTERS_AT_ONCE])

    def _notifications(self, site: Site) -> Iterator[Command]:
        for each in notifications.notified(self.fields.get("notified", "")):
            inbox = keys.inbox(site.partition_of_user(each.username), each.username)
            yield ("ZADD", inbox, each.at, notifications.notification_member(self.number, each.kind, self.kind))


@dataclass(frozen=True, slots=True)
class ArticleRecord(VotedOnRecord):
    """The hash of an article, with those who voted on it."""

    kind = "article"

    def _check_fields(self, where: str) -> None:
        check_fields(where, self.fields, needed=ARTICLE_FIELDS, optional=OPTIONAL_ARTICLE_FIELDS)

    def commands(self, site: Site) -> Iterator[Command]:
        kept = _without(self.fields, DERIVED_ARTICLE_FIELDS)
        if link := kept.get("link"):
            kept[links.FIELD] = links.digest(link)
        yield site.command(RESTORE_ARTICLE, site.partition_of_article(self.number), self.number, *flat(kept))
        yield from self._notifications(site)


@dataclass(frozen=True, slots=True)
class CommentRecord(VotedOnRecord):
    """A deleted comment has neither poster nor content. It comes after its article and its parent."""

    kind = "comment"

    def _check_fields(self, where: str) -> None:
        check_fields(where, self.fields, needed=COMMENT_FIELDS, optional=OPTIONAL_COMMENT_FIELDS)
        is_deleted = self.fields.get("state") == "deleted"
        for name in ("poster", "content"):
            if (name in self.fields) == is_deleted:
                raise MalformedRecord(f"{where}: it has {'a' if is_deleted else 'no'} {name}")

    def commands(self, site: Site) -> Iterator[Command]:
        poster = self.fields.get("poster")
        slot: Argument = keys.slot(poster) if poster else ""
        partition = site.partition_of_article(self.number)
        yield site.command(RESTORE_COMMENT, partition, site.partitions, self.number, slot, *flat(self.fields))
        if poster:
            own = keys.comments(site.partition_of_user(poster), poster)
            yield ("ZADD", own, self.fields["time"], keys.member(self.number))
        yield from self._notifications(site)


V = TypeVar("V", ArticleRecord, CommentRecord)


async def read_articles(site: Site, found: Sequence[Key], on_skipped: OnSkipped) -> list[ArticleRecord]:
    numbers = [int(key.suffix) for key in found]
    return await _read(site, ArticleRecord, keys.article, numbers, DERIVED_ARTICLE_FIELDS, on_skipped)


async def read_comments(site: Site, article: int, on_skipped: OnSkipped) -> AsyncIterator[list[CommentRecord]]:
    """
    The comments of an article, parents first, some at a time: those of the thread, then the hidden ones that had no
    place in it before or after it was read. One whose place changes meanwhile may come twice.
    """
    bare = await _bare(site, article)
    window, has_more = ThreadWindow(RECORDS_AT_ONCE), True
    while has_more:
        read = threads.page(site, article, CommentOrder.OLDEST, window, max_depth=threads.UNLIMITED)
        page = read.result(await site.redis.run(read.command))
        numbers = [place.number for place in page.places]
        yield await _read(site, CommentRecord, keys.comment, numbers, DERIVED_COMMENT_FIELDS, on_skipped)
        has_more = page.has_after
        window = ThreadWindow(RECORDS_AT_ONCE, beyond=page.places[-1].position if has_more else None)
    bare |= await _bare(site, article)
    others = sorted(bare, key=bare.__getitem__)  # by depth, so parents first
    for start in range(0, len(others), RECORDS_AT_ONCE):
        numbers = others[start : start + RECORDS_AT_ONCE]
        yield await _read(site, CommentRecord, keys.comment, numbers, DERIVED_COMMENT_FIELDS, on_skipped)


async def _bare(site: Site, article: int) -> dict[int, int]:
    """
    The hidden comments of an article that no thread has a place for, with their depths. Two round trips for
    `RECORDS_AT_ONCE` stubs, which are all comments that are not visible.
    """
    partition, after, found = site.partition_of_article(article), "-", dict[int, int]()
    while after:
        command: Command = ("ZRANGEBYLEX", threads.STUBS(partition, article), after, "+", "LIMIT", 0, RECORDS_AT_ONCE)
        members = await site.redis.run(command)
        numbers = [int(member.split()[1]) for member in members]  # after the path in the tree of comments
        hashes = await site.redis.pipeline(
            [("HMGET", keys.comment(partition, each), "bare", "depth") for each in numbers]
        )
        found |= {number: int(depth) for number, (bare, depth) in zip(numbers, hashes, strict=True) if bare and depth}
        after = f"({members[-1]}" if len(members) == RECORDS_AT_ONCE else ""
    return found


async def _read(
    site: Site, record: type[V], key_of: Kind, numbers: Sequence[int], derived: set[str], on_skipped: OnSkipped
) -> list[V]:
    """The records of the articles or comments with these numbers that are there. One round trip."""
    partitions = list(map(site.partition_of_article, numbers))
    scripts = [
        DUMP_ARTICLE.command(
            [key_of(partition, number), keys.voted(partition, number), keys.downvoted(partition, number)]
        )
        for partition, number in zip(partitions, numbers, strict=True)
    ]
    replies = await site.redis.pipeline(scripts)
    read: list[tuple[str, V]] = []
    for partition, number, (stored, up, down) in zip(partitions, numbers, replies, strict=True):
        if stored:
            key = key_of(partition, number)
            fields = without_malformed(key, records.pairs(stored), DROPPABLE, on_skipped)
            read.append((key, record(number, _without(fields, derived), up, down)))
    return valid(read, on_skipped)


def _without(fields: dict[str, str], names: set[str]) -> dict[str, str]:
    return {name: value for name, value in fields.items() if name not in names}
