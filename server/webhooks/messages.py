"""What webhooks are sent: a change of the log as a message, and the kinds of changes that they can ask for."""

from collections.abc import Sequence
from hashlib import sha256

import orjson

from database.webhook_bodies import USER_DELETED, without_texts
from database.webhooks import Message
from resolvers.changes import Change
from schema.scalars import write_instant
from store import log
from store.events import PRIVATE, EventKind

# kinds of events that are no changes of the store: the log has no entries of them
WITHOUT_ENTRY = {EventKind.NOTIFIED, EventKind.MISSED, EventKind.COMMENT_ANNOUNCED}
SENT_KINDS = frozenset(kind.value for kind in EventKind if kind not in PRIVATE | WITHOUT_ENTRY)
VOTES = frozenset({EventKind.VOTED.value, EventKind.COMMENT_VOTED.value})  # whose actor is not sent
VOTERS = frozenset({"voter", "voters", "upvoters"})  # names of values that say who voted
MAX_ID = 4_000  # characters: a longer cursor, of a store of hundreds of partitions, does not fit into a header


def messages_of(changes: Sequence[Change]) -> tuple[list[Message], set[str]]:
    """
    The messages about some changes, and the ids of what these changes deleted. Messages about a deleted subject that
    precede its deletion have no texts.
    """
    deleted: set[str] = set()
    messages = []
    for change in reversed(changes):
        body = _body(change)
        if change.subject_id in deleted:
            body = without_texts(body)
        if change.kind in log.DELETIONS:
            deleted.add(change.subject_id)
        messages.append(Message(id_of(change.cursor), change.kind, change.subject_id, orjson.dumps(body)))
    return messages[::-1], deleted


def users_who_left(changes: Sequence[Change]) -> dict[str, str]:
    """The pseudonyms of the users who were deleted by some changes, by name."""
    values = [change.entry.values for change in changes if change.kind == USER_DELETED]
    return {each["name"]: each["pseudonym"] for each in values}


def id_of(cursor: str) -> str:
    """The id of the message about the change with a cursor: the cursor, or a digest of one that is too long."""
    return cursor if len(cursor) <= MAX_ID else sha256(cursor.encode()).hexdigest()


def _body(change: Change) -> dict[str, object]:
    """What is sent of a change, in the form of Standard Webhooks 1.0."""
    at = write_instant(change.at)
    data = {
        "cursor": change.cursor,
        "at": at,
        "kind": change.kind,
        "subjectId": change.subject_id,
        "actorId": None if change.kind in VOTES else change.actor_id,
        "fields": [field._asdict() for field in change.fields if field.name not in VOTERS],
    }
    return {"type": change.kind, "timestamp": at, "data": data}
