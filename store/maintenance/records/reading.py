"""Makes the records of a backup, in which each is a list: its kind, then its parts."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cache, partial
from typing import Any, NamedTuple, get_origin, get_type_hints

from store.maintenance.records.accounts import (
    CommentedRecord,
    DepartedRecord,
    FollowsRecord,
    GroupFollowsRecord,
    LeavingRecord,
    PostedRecord,
    SessionRecord,
    UserRecord,
)
from store.maintenance.records.actions import ActionRecord, AppealRecord
from store.maintenance.records.annulments import AnnulledRecord
from store.maintenance.records.content import ArticleRecord, CommentRecord
from store.maintenance.records.flags import FlagsRecord
from store.maintenance.records.held_edits import HeldEditRecord
from store.maintenance.records.identities import IdentitiesRecord, IdentityRecord
from store.maintenance.records.lists import ListRecord, kinds_of_lists
from store.maintenance.records.mailboxes import MailboxRecord, MailingRecord
from store.maintenance.records.places import GroupRecord
from store.maintenance.records.record import MalformedRecord, Record, shown
from store.maintenance.records.settings import ImportedRecord, RankingRecord, SequencesRecord, ServerKeysRecord
from store.maintenance.records.tokens import InvitationRecord, TokenRecord

TYPES: dict[type, str] = {str: "text", int: "a whole number", list: "a list", dict: "an object"}


class Format(NamedTuple):
    """The types of the parts that follow the kind, and what makes a record of them."""

    types: Sequence[type]
    make: Callable[..., Record]


@cache
def formats() -> dict[str, Format]:
    """The format of each kind of record."""
    own: list[type[Record]] = [
        RankingRecord,
        ServerKeysRecord,
        ImportedRecord,
        ArticleRecord,
        CommentRecord,
        FollowsRecord,
        GroupFollowsRecord,
        UserRecord,
        LeavingRecord,
        DepartedRecord,
        IdentityRecord,
        IdentitiesRecord,
        GroupRecord,
        PostedRecord,
        CommentedRecord,
        SessionRecord,
        MailboxRecord,
        MailingRecord,
        TokenRecord,
        InvitationRecord,
        ActionRecord,
        AppealRecord,
        FlagsRecord,
        HeldEditRecord,
        AnnulledRecord,
        SequencesRecord,
    ]
    lists = {kind.name: Format((str, dict), partial(ListRecord, kind)) for kind in kinds_of_lists()}
    return {str(each.kind): _format(each) for each in own} | lists


def record_of(parts: object) -> Record:
    """
    The record that a backup has as a list, not checked beyond the types of its parts.

    Raises:
        MalformedRecord: `parts` is no list, or has another number of parts, or parts of other types.
    """
    if type(parts) is not list or not parts:
        raise MalformedRecord(f"a record is a list with its kind first, not {shown(parts)}")
    kind, *others = parts
    if type(kind) is not str or kind not in formats():
        raise MalformedRecord(f"there is no kind of record {shown(kind)}")
    types, make = formats()[kind]
    if len(others) != len(types):
        raise MalformedRecord(f"{kind}: a record of this kind has {len(types)} parts, not {len(others)}")
    for place, (part, expected) in enumerate(zip(others, types, strict=True), 1):
        if type(part) is not expected:
            raise MalformedRecord(f"{kind}: part {place} is {TYPES[expected]}, not {shown(part)}")
    return make(*others)


def _format(record: type[Record]) -> Format:
    hints: dict[str, Any] = get_type_hints(record)
    return Format([get_origin(hints[field.name]) or hints[field.name] for field in fields(record)], record)
