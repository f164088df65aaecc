"""
Edits that rules of the site hold, and the names of these rules. The text that others read stays as it is, and the new
one waits in the queue PENDING until a moderator approves or rejects it. Only its poster and those who moderate the
article or comment read it: no event, no page of changes, no search and no view of the database has it before.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from store import keys
from store.kinds import Backup, Check, Kind
from store.queries import Read
from store.records import Article, Comment, ContentState
from store.site import Site

HELD_BY = "held_by"  # the words of a `Hold`, in the hash of what is pending, and in that of an edit
HOLD_WORDS = re.compile("[a-z_]{1,50}(?: .{1,300})?", re.DOTALL)
TEXTS = ("title", "link", "content")

HELD_EDIT = Kind(
    "heldedit",
    "hash",
    parts=(keys.NUMBER,),
    holds="the edit of an article or a comment that a rule of the site holds: at, held_by, the new title, link or "
    "content (empty if it is removed), link_digest, mentions (usernames and slots), most_mentions",
    lifetime="until a moderator approves or rejects it, or another edit replaces it",
    written_by="edit, approve, reject, remove, delete",
    backup=Backup.COPIED,
    record="held_edit",
    check=Check.HELD_EDIT,
)


class Hold(NamedTuple):
    """The rule that holds a text, and for moderators why, if the service that checks texts has said so."""

    rule: str
    reason: str | None

    @property
    def words(self) -> str:
        """What is stored: the rule, and after a space the reason."""
        return f"{self.rule} {self.reason}" if self.reason else self.rule


class HeldEdit(NamedTuple):
    """An edit that waits since an instant (unix milliseconds). The new value of a text that is removed is None."""

    held_by: Hold
    at: int
    changes: dict[str, str | None]


def of(site: Site, number: int) -> Read[HeldEdit | None]:
    """The edit of an article or a comment that waits for approval."""
    return Read(("HGETALL", HELD_EDIT(site.partition_of_article(number), number)), _parse)


def hold(site: Site, subject: Article | Comment) -> Read[Hold | None]:
    """What holds a text that waits in the queue PENDING: a pending one, or the edit of a visible one."""
    partition, number = site.partition_of_article(subject.number), subject.number
    if subject.state is not ContentState.PENDING:
        return Read(("HGET", HELD_EDIT(partition, number), HELD_BY), _parse_hold)
    kind = keys.article if isinstance(subject, Article) else keys.comment
    return Read(("HGET", kind(partition, number), HELD_BY), _parse_hold)


def rule_of(fields: Mapping[str, str]) -> str | None:
    """The rule that holds an article or a comment with this hash; None if none does."""
    held_by = _parse_hold(fields.get(HELD_BY)) if fields.get("state") == ContentState.PENDING.value else None
    return held_by and held_by.rule


def _parse(fields: dict[str, str]) -> HeldEdit | None:
    if not fields:
        return None
    changes = {name: fields[name] or None for name in TEXTS if name in fields}
    held_by = _parse_hold(fields[HELD_BY])
    assert held_by
    return HeldEdit(held_by, int(fields["at"]), changes)


def _parse_hold(words: str | None) -> Hold | None:
    if words is None:
        return None
    rule, _, reason = words.partition(" ")
    return Hold(rule, reason or None)
