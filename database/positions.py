"""The positions in the logs of a store that the tables are at: the last entry of each partition that they have."""

from typing import TYPE_CHECKING

from database.statements import Statement
from store import log

if TYPE_CHECKING:
    from sqlalchemy import Connection


def stored_positions(connection: "Connection") -> tuple[str, dict[int, str]]:
    """The identity of the log that the database follows, and the last entry of each partition that it has."""
    rows = POSITIONS.run(connection).all()
    identities = {row.log for row in rows}
    if len(identities) != 1:
        return "", {}
    return identities.pop(), {row.partition: row.entry for row in rows}


def has_entry(connection: "Connection", partition: int, identity: str, entry: str) -> bool:
    """Whether the tables have a log up to an entry of a partition."""
    row = POSITION.run(connection, {"partition": partition}).one_or_none()
    return row is not None and row.log == identity and log.sort_key(row.entry) >= log.sort_key(entry)


POSITIONS = Statement("SELECT partition, log, entry FROM positions")
POSITION = Statement("SELECT log, entry FROM positions WHERE partition = :partition")
