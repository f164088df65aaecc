"""
Webhooks in the database: their receivers, the position up to which the log of the store was read for them, and the
messages that wait to be sent. A message is one change, an entry of the log. To spool is to keep the messages of some
entries for all receivers, and to move the position behind these entries.

Of the messages of a receiver about one subject, only the first is due (`due_ms`); what removes it makes the next one
due. So messages of one subject keep their order, and one that cannot be sent delays no other subject.

Rebuilds of the database leave these tables as they are: they are not made from the store.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from database.statements import Statement, slices
from database.webhook_bodies import Body, without_texts, without_user

if TYPE_CHECKING:
    from sqlalchemy import Connection

DAY = 86_400_000  # milliseconds
KEPT = 7 * DAY  # how long messages of a webhook that is off are kept
CHANGED_AT_ONCE = 1_000  # messages in a transaction that drops some, or removes their texts


class AlreadySpooled(Exception):
    """Another process has spooled these entries, or there are no webhooks any more."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """
    A receiver, of changes of these `kinds`. Its URL may have a private address only if it `allows_private`. Times are
    unix milliseconds. `off_at` is when it was switched off and `fault` why, None if it is on.
    """

    id: int
    url: str
    kinds: frozenset[str]
    allows_private: bool
    secret: str
    old_secret: str | None
    old_until: int | None
    off_at: int | None
    fault: str | None

    def secrets(self, now: int) -> list[str]:
        """The secrets that sign messages: after a rotation, for a time, the new one and the old one."""
        is_old_valid = self.old_secret is not None and self.old_until is not None and now < self.old_until
        return [self.secret, self.old_secret] if is_old_valid and self.old_secret else [self.secret]


@dataclass(frozen=True, slots=True)
class Message:
    """
    A change that is to be sent to all webhooks that want its `kind`. `id` is that of the change, the same for all of
    them. `subject` is the id of what it is about, such as that of an article. `body` is what is sent, in JSON.
    """

    id: str
    kind: str
    subject: str
    body: bytes


@dataclass(frozen=True, slots=True)
class PendingMessage:
    """
    A message that is due at one webhook, whose id is `hook`. `number` is that of its row, in the order of spooling.
    `tries` attempts to send it have failed.
    """

    number: int
    hook: int
    subject: str
    id: str
    body: bytes
    tries: int


@dataclass(frozen=True, slots=True)
class Backlog:
    """
    How many messages wait for a webhook, since when the oldest does, in unix milliseconds, and why the last try of the
    oldest that was tried has failed.
    """

    count: int = 0
    oldest: int | None = None
    fault: str | None = None


def add(
    connection: "Connection", url: str, kinds: Collection[str], allows_private: bool, secret: str, now: int, cursor: str
) -> tuple[int, bool]:
    """
    Add a webhook, and return its id, and whether it is the first. It gets what follows the position of all webhooks;
    for the first this is `cursor`.
    """
    POSITION_LOCK.run(connection)
    is_first = SET_POSITION.run(connection, {"cursor": cursor}).rowcount == 1
    given = {"url": url, "kinds": " ".join(sorted(kinds)), "allows_private": allows_private}
    id: int = ADD.run(connection, {**given, "secret": secret, "now": now}).scalar_one()
    return id, is_first


def remove(connection: "Connection", id: int) -> bool:
    """Remove a webhook and its messages. False if there is none."""
    POSITION_LOCK.run(connection)
    if REMOVE.run(connection, {"id": id}).rowcount == 0:
        return False
    REMOVE_MESSAGES.run(connection, {"hook": id})
    REMOVE_POSITION.run(connection)  # after the last one
    return True


def rotate(connection: "Connection", id: int, secret: str, old_until: int) -> bool:
    """Set a new secret. The old one is used beside it until an instant. False if there is no such webhook."""
    return ROTATE.run(connection, {"id": id, "secret": secret, "until": old_until}).rowcount == 1


def replay(connection: "Connection", id: int, now: int) -> bool:
    """Switch a webhook on, and let all that waits be tried from now on, in order. False if there is no such webhook."""
    POSITION_LOCK.run(connection)
    is_known = SWITCH_ON.run(connection, {"id": id}).rowcount == 1
    if is_known:
        MAKE_NONE_DUE.run(connection, {"hook": id})
        MAKE_FIRST_DUE.run(connection, {"hook": id, "now": now})
    return is_known


def webhooks(connection: "Connection") -> list[Webhook]:
    """All webhooks, the oldest first."""
    return [
        Webhook(
            row.id,
            row.url,
            frozenset(row.kinds.split()),
            bool(row.allows_private),
            row.secret,
            row.old_secret,
            row.old_until_ms,
            row.off_ms,
            row.fault,
        )
        for row in WEBHOOKS.run(connection)
    ]


def position(connection: "Connection") -> str | None:
    """The cursor up to which the log was read; None if there are no webhooks."""
    cursor: str | None = POSITION.run(connection).scalar()
    return cursor


def states(connection: "Connection") -> list[tuple[Webhook, Backlog]]:
    """All webhooks, and what waits for each."""
    found = webhooks(connection)
    rows = BACKLOGS.run(connection).all() if found else []
    numbers = [row.failing for row in rows if row.failing is not None]
    faults = {row.number: row.fault for row in FAULTS.run(connection, {"numbers": numbers})}
    waiting = {row.hook: Backlog(row.waiting, row.oldest, faults.get(row.failing)) for row in rows}
    return [(hook, waiting.get(hook.id, Backlog())) for hook in found]


def spool(
    connection: "Connection",
    before: str,
    after: str,
    messages: Sequence[Message],
    deleted: Collection[str],
    left: Mapping[str, str],
    now: int,
) -> int:
    """
    Move the position from the cursor `before` to `after`, and keep the messages between them for all webhooks of their
    kinds. What waits about the `deleted` subjects loses its texts, and users who have `left` are named by their
    pseudonyms. Returns how many messages were added.

    Raises:
        AlreadySpooled: the position is another one by now.
    """
    if MOVE.run(connection, {"before": before, "after": after}).rowcount != 1:
        raise AlreadySpooled
    for some in slices(deleted):
        _remove_texts(connection, some)
    hooks = webhooks(connection)
    rows = [
        {"hook": hook.id, "subject": each.subject, "id": each.id, "body": each.body.decode(), "now": now}
        for each in messages
        for hook in hooks
        if each.kind in hook.kinds
    ]
    if rows:
        SPOOL.run(connection, rows)
    for name, pseudonym in left.items():
        _remove_user(connection, name, pseudonym)
    return len(rows)


def remove_texts_after(connection: "Connection", number: int) -> int | None:
    """
    Remove the texts of some messages that wait, those that follow the one with a number. Returns the number of the last
    of them; None if there are no more.
    """
    rows = FOLLOWING.run(connection, {"number": number, "count": CHANGED_AT_ONCE}).all()
    _change(connection, rows, without_texts)
    return rows[-1].number if rows else None


def due(connection: "Connection", hook: int, now: int, being_sent: Collection[int]) -> PendingMessage | None:
    """
    The next message that is due at a webhook at `now` (unix milliseconds), except those with the numbers
    `being_sent`.
    """
    return _message(DUE, connection, hook, now, being_sent)


def probe(connection: "Connection", hook: int, now: int, being_sent: Collection[int]) -> PendingMessage | None:
    """
    The message with which to try a webhook that does not answer: the oldest that has been tried and is due again, else
    the newest one due.
    """
    return _message(TRIED, connection, hook, now, being_sent) or _message(NEWEST, connection, hook, now, being_sent)


def delivered(connection: "Connection", message: PendingMessage, now: int) -> None:
    """Remove a message that the webhook has accepted, and make the next one of its subject due."""
    POSITION_LOCK.run(connection)
    REMOVE_MESSAGE.run(connection, {"number": message.number})
    MAKE_NEXT_DUE.run(connection, {"hook": message.hook, "subject": message.subject, "now": now})


def failed(connection: "Connection", message: PendingMessage, fault: str, due: int | None) -> None:
    """
    Note why an attempt to send a message has failed. If `due` (unix milliseconds) is given, the attempt counts as a
    try, and the next one is due then.
    """
    SET_FAULT.run(connection, {"number": message.number, "fault": fault})
    if due is not None:
        COUNT_TRY.run(connection, {"number": message.number, "due": due})


def switch_off(connection: "Connection", id: int, fault: str, now: int) -> bool:
    """Send nothing to a webhook until its replay. False if it is off, or gone."""
    return SWITCH_OFF.run(connection, {"id": id, "fault": fault, "now": now}).rowcount == 1


def drop_old(connection: "Connection", now: int) -> int:
    """
    Drop some messages of webhooks that have been off for `KEPT`: those that have waited as long. Returns how many.
    """
    POSITION_LOCK.run(connection)
    limits = {"before": now - KEPT, "count": CHANGED_AT_ONCE}
    return DROP_OLD.run(connection, limits).rowcount


def _remove_texts(connection: "Connection", subjects: Sequence[str]) -> None:
    _change(connection, ABOUT.run(connection, {"subjects": subjects}).all(), without_texts)


def _remove_user(connection: "Connection", name: str, pseudonym: str) -> None:
    """Replace the name of a deleted user in all messages that wait and contain it."""
    pattern = f"%{name.lower().replace('_', '!_')}%"
    rows = NAMING.run(connection, {"pattern": pattern}).all()
    _change(connection, rows, lambda body: without_user(body, name, pseudonym))


def _change(connection: "Connection", rows: Sequence[Any], change: Callable[[Body], Body]) -> None:
    """Write the bodies of some messages that a function changes."""
    bodies = [(row.number, row.body, orjson.dumps(change(orjson.loads(row.body))).decode()) for row in rows]
    changed = [{"number": number, "body": after} for number, before, after in bodies if after != before]
    if changed:
        SET_BODY.run(connection, changed)


def _message(
    statement: Statement, connection: "Connection", hook: int, now: int, being_sent: Collection[int]
) -> PendingMessage | None:
    row = statement.run(connection, {"hook": hook, "now": now, "being_sent": list(being_sent)}).first()
    return (
        None if row is None else PendingMessage(row.number, row.hook, row.subject, row.id, row.body.encode(), row.tries)
    )


ADD = Statement(
    "INSERT INTO webhooks (url, kinds, allows_private, secret, created_ms) "
    "VALUES (:url, :kinds, :allows_private, :secret, :now) RETURNING id"
)
REMOVE = Statement("DELETE FROM webhooks WHERE id = :id")
ROTATE = Statement("UPDATE webhooks SET old_secret = secret, old_until_ms = :until, secret = :secret WHERE id = :id")
WEBHOOKS = Statement("SELECT * FROM webhooks ORDER BY id")
SWITCH_ON = Statement("UPDATE webhooks SET off_ms = NULL, fault = NULL WHERE id = :id")
SWITCH_OFF = Statement("UPDATE webhooks SET off_ms = :now, fault = :fault WHERE id = :id AND off_ms IS NULL")

POSITION = Statement("SELECT cursor FROM webhook_position")
# The row is locked by whoever adds messages, and by whoever makes the next one due: else two could miss each other.
POSITION_LOCK = Statement("UPDATE webhook_position SET cursor = cursor")
SET_POSITION = Statement("INSERT INTO webhook_position (id, cursor) VALUES (1, :cursor) ON CONFLICT (id) DO NOTHING")
MOVE = Statement("UPDATE webhook_position SET cursor = :after WHERE cursor = :before")
REMOVE_POSITION = Statement("DELETE FROM webhook_position WHERE NOT EXISTS (SELECT 1 FROM webhooks)")

SPOOL = Statement(
    "INSERT INTO webhook_messages (hook, subject, id, body, spooled_ms, tries, due_ms) "
    "VALUES (:hook, :subject, :id, :body, :now, 0, CASE WHEN EXISTS "
    "(SELECT 1 FROM webhook_messages WHERE subject = :subject AND hook = :hook) "
    "THEN NULL ELSE CAST(:now AS BIGINT) END)"
)
ARE_DUE = (
    "SELECT * FROM webhook_messages WHERE hook = :hook AND due_ms <= :now AND number NOT IN :being_sent "
    "AND EXISTS (SELECT 1 FROM webhooks WHERE id = :hook AND off_ms IS NULL) "
)
DUE = Statement(f"{ARE_DUE} ORDER BY due_ms, number LIMIT 1", "being_sent")
TRIED = Statement(f"{ARE_DUE} AND tries > 0 ORDER BY number LIMIT 1", "being_sent")
NEWEST = Statement(f"{ARE_DUE} ORDER BY due_ms DESC, number DESC LIMIT 1", "being_sent")
BACKLOGS = Statement(
    "SELECT hook, count(*) AS waiting, min(spooled_ms) AS oldest, "
    "min(CASE WHEN fault IS NOT NULL THEN number END) AS failing FROM webhook_messages GROUP BY hook"
)
FAULTS = Statement("SELECT number, fault FROM webhook_messages WHERE number IN :numbers", "numbers")
ABOUT = Statement("SELECT number, body FROM webhook_messages WHERE subject IN :subjects", "subjects")
FOLLOWING = Statement("SELECT number, body FROM webhook_messages WHERE number > :number ORDER BY number LIMIT :count")
NAMING = Statement("SELECT number, body FROM webhook_messages WHERE lower(body) LIKE :pattern ESCAPE '!'")
SET_BODY = Statement("UPDATE webhook_messages SET body = :body WHERE number = :number")
SET_FAULT = Statement("UPDATE webhook_messages SET fault = :fault WHERE number = :number")
COUNT_TRY = Statement("UPDATE webhook_messages SET tries = tries + 1, due_ms = :due WHERE number = :number")
REMOVE_MESSAGE = Statement("DELETE FROM webhook_messages WHERE number = :number")
REMOVE_MESSAGES = Statement("DELETE FROM webhook_messages WHERE hook = :hook")
FIRST = "SELECT min(number) FROM webhook_messages WHERE subject = :subject AND hook = :hook"
MAKE_NEXT_DUE = Statement(f"UPDATE webhook_messages SET due_ms = :now WHERE due_ms IS NULL AND number = ({FIRST})")
MAKE_NONE_DUE = Statement("UPDATE webhook_messages SET tries = 0, due_ms = NULL, fault = NULL WHERE hook = :hook")
MAKE_FIRST_DUE = Statement(
    "UPDATE webhook_messages SET due_ms = :now "
    "WHERE number IN (SELECT min(number) FROM webhook_messages WHERE hook = :hook GROUP BY subject)"
)
DROP_OLD = Statement(
    "DELETE FROM webhook_messages WHERE number IN (SELECT number FROM webhook_messages WHERE spooled_ms < :before "
    "AND hook IN (SELECT id FROM webhooks WHERE off_ms < :before) ORDER BY number LIMIT :count)"
)
