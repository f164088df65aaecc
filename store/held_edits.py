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

HELD_BY = "held_by"  # the rule, in the hash of what is pending, and in that of an edit
RULE_NAME = re.compile("[a-z_]{1,50}")
TEXTS = ("title", "link", "content")

HELD_EDIT = Kind(
    "heldedit",
    "hash",
    (keys.NUMBER,),
    "the edit of an article or a comment that a rule of the site holds: at, held_by, the new title, link or content "
    "(empty if it is removed), link_digest, mentions (usernames and slots), most_mentions",
    lifetime="until a moderator approves or rejects it, or another edit replaces it",
    written_by="edit, approve, reject, remove, delete",
    backup=Backup.COPIED,
    record="held_edit",
    check=Check.HELD_EDIT,
)


class HeldEdit(NamedTuple):
    """An edit that waits since an instant (unix milliseconds). The new value of a text that is removed is None."""

    held_by: str
    at: int
    changes: dict[str, str | None]


def of(site: Site, number: int) -> Read[HeldEdit | None]:
    """The edit that waits for an article or a comment."""
    return Read(("HGETALL", HELD_EDIT(site.home_of_article(number), number)), _parse)


def rule(site: Site, subject: Article | Comment) -> Read[str | None]:
    """The rule that holds what waits in the queue PENDING: a pending text, or the edit of a visible one."""
    partition, number = site.home_of_article(subject.number), subject.number
    if subject.state is not ContentState.PENDING:
        return Read(("HGET", HELD_EDIT(partition, number), HELD_BY), _as_it_is)
    kind = keys.article if isinstance(subject, Article) else keys.comment
    return Read(("HGET", kind(partition, number), HELD_BY), _as_it_is)


def rule_of(fields: Mapping[str, str]) -> str | None:
    """The rule that holds an article or a comment with this hash; None if none does."""
    return fields.get(HELD_BY) if fields.get("state") == ContentState.PENDING.value else None


def _parse(fields: dict[str, str]) -> HeldEdit | None:
    if not fields:
        return None
    changes = {name: fields[name] or None for name in TEXTS if name in fields}
    return HeldEdit(fields[HELD_BY], int(fields["at"]), changes)


def _as_it_is(rule: str | None) -> str | None:
    return rule
