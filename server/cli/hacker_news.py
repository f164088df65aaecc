"""
Reads items as the public API of Hacker News gives them (https://github.com/HackerNews/API#items), and finds the order
in which comments can be imported.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import unescape

from server.cli.markdown import markdown
from store import validation
from store.errors import Invalid
from store.maintenance.import_comments import PlacedComment, StoryComment
from store.maintenance.import_stories import MOST_VOTES, Story

OTHER_TYPES = ("job", "poll", "pollopt")
TYPES = ("story", "comment", *OTHER_TYPES)


@dataclass(frozen=True, slots=True)
class Skipped:
    """An item that is not imported: a deleted or dead story, or an item of another type."""

    id: str


@dataclass(frozen=True, slots=True)
class Conversations:
    """
    The comments of files, by what becomes of them. `placed` are those that can be imported, parents first. `skipped`
    are the deleted ones with none but deleted ones below them, and those about skipped items. `orphans` are all
    others: what they answer is neither in the files nor was it imported before.
    """

    placed: Sequence[PlacedComment] = ()
    skipped: Sequence[StoryComment] = ()
    orphans: Sequence[StoryComment] = ()


def is_item(fields: Mapping[str, object]) -> bool:
    """Whether a row is an item, and not a story with the columns of CSV."""
    return "type" in fields and "created_at" not in fields


def item(id: str, fields: Mapping[str, object], now: int) -> tuple[Story | StoryComment | Skipped, bool]:
    """
    What an item is, and whether its text was cut. A deleted or dead comment has neither poster nor content.

    `now` is in unix milliseconds; a later time is an error.

    Raises:
        Invalid: a field breaks a rule.
    """
    kind, is_gone = fields["type"], bool(fields.get("deleted") or fields.get("dead"))
    if kind not in TYPES:
        raise Invalid(f"type is not one of {', '.join(TYPES)}", "type")
    if kind in OTHER_TYPES or (kind == "story" and is_gone):
        return Skipped(id), False
    if kind == "comment":
        return _comment(id, fields, now, is_gone)
    content, was_cut = markdown(_text(fields, "text"), validation.CONTENT_LENGTH)
    title, link = validation.title(unescape(_text(fields, "title"))), _text(fields, "url")
    poster, time = validation.username(_text(fields, "by")), _time(fields, now)
    votes, content = _votes(fields), content and validation.content(content)
    return Story(id, title, link and validation.link(link), poster, time, votes, content=content), was_cut


def arranged(
    comments: Iterable[StoryComment], partitions: Mapping[str, int], skipped: Collection[str]
) -> Conversations:
    """
    Tell what becomes of each comment, and its partition, the share of the data in which its story is stored.
    `partitions` has partitions by id: of each story of the file, and of each item that was imported before and that a
    comment of the file answers. `skipped` are the ids of skipped items.

    Comments are in the order of their depth in the file, then of their time. So parents come before their replies,
    whatever the order of the lines and the times are. A deleted comment is kept if one below it is not deleted.
    """
    replies: defaultdict[str, list[StoryComment]] = defaultdict(list)
    for comment in sorted(comments, key=_order):
        replies[comment.parent].append(comment)
    placed = _below(replies, {root: partition for root, partition in partitions.items() if root in replies})
    # the partition of these does not matter
    below_skipped = _below(replies, {root: 0 for root in skipped if root in replies and root not in partitions})
    found = {comment.id for _, comment in (*placed, *below_skipped)}
    orphans = [comment for siblings in replies.values() for comment in siblings if comment.id not in found]
    kept = _kept(placed)
    left_out = [comment for _, comment in placed if comment.id not in kept]
    left_out += [comment for _, comment in below_skipped]
    return Conversations(
        placed=[each for each in placed if each.comment.id in kept],
        skipped=left_out,
        orphans=sorted(orphans, key=_order),
    )


def _below(replies: Mapping[str, Sequence[StoryComment]], partitions: Mapping[str, int]) -> list[PlacedComment]:
    """The comments below some items, level by level. `partitions` has the partition of each of these items."""
    found = list[PlacedComment]()
    level = [PlacedComment(partition, comment) for id, partition in partitions.items() for comment in replies[id]]
    while level:
        found += sorted(level, key=lambda placed: _order(placed.comment))
        level = [
            PlacedComment(partition, reply) for partition, comment in level for reply in replies.get(comment.id, ())
        ]
    return found


def _kept(placed: Sequence[PlacedComment]) -> set[str]:
    """The comments that are not deleted, and those above them."""
    kept = set[str]()
    for _, comment in reversed(placed):
        if comment.poster or comment.id in kept:
            kept |= {comment.id, comment.parent}
    return kept


def _order(comment: StoryComment) -> tuple[int, int, str]:
    """The sort key of a comment: by time, then id: shorter ids come first, so that numeric ids are in numeric order."""
    return comment.time, len(comment.id), comment.id


def _comment(id: str, fields: Mapping[str, object], now: int, is_gone: bool) -> tuple[StoryComment, bool]:
    """A comment, and whether its text was cut. One that is gone has neither poster nor text."""
    parent, time = _id_of_parent(fields), _time(fields, now)
    if is_gone:
        return StoryComment(id, parent, poster="", time=time, content=""), False
    poster = validation.username(_text(fields, "by"))
    content, was_cut = markdown(_text(fields, "text"), validation.COMMENT_LENGTH)
    return StoryComment(id, parent, poster, time, validation.comment(content), _votes(fields)), was_cut


def _text(fields: Mapping[str, object], name: str) -> str:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise Invalid(f"{name} is not text", name)
    return value or ""


def _id_of_parent(fields: Mapping[str, object]) -> str:
    parent = fields.get("parent")
    if isinstance(parent, bool) or not isinstance(parent, int | str) or not str(parent):
        raise Invalid("parent is not the id of an item", "parent")
    return str(parent)


def _time(fields: Mapping[str, object], now: int) -> int:
    seconds = fields.get("time")
    if isinstance(seconds, bool) or not isinstance(seconds, int) or not 0 <= seconds * 1000 <= now:
        raise Invalid("time is not a number of seconds since 1970 that has passed", "time")
    return seconds * 1000


def _votes(fields: Mapping[str, object]) -> int:
    score = fields.get("score", 1)
    if isinstance(score, bool) or not isinstance(score, int) or score > MOST_VOTES:
        raise Invalid(f"score is not a whole number up to {MOST_VOTES}", "score")
    return max(score, 1)
