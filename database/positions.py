"""
How far the tables follow the store in Redis. A partition is a share of the store; its log is a stream with an entry for
each change. The position of a partition is the id of the last entry whose change the tables have.
"""

from typing import TYPE_CHECKING

from database.statements import Statement
from store import log

if TYPE_CHECKING:
    from sqlalchemy import Connection


def stored_positions(connection: "Connection") -> tuple[str, dict[int, str]]:
    """
    The identity of the log that the database follows (a random text, another one for each store), and the position of
    each partition. "" and {} if the tables are not complete, as before the first build or during a rebuild.
    """
    rows = POSITIONS.run(connection).all()
    identities = {row.log for row in rows}
    if len(identities) != 1:
        return "", {}
    return identities.pop(), {row.partition: row.entry for row in rows}


def has_entry(connection: "Connection", partition: int, identity: str, entry: str) -> bool:
    """Whether the tables follow the log with this identity, and have the changes of a partition up to an entry."""
    row = POSITION.run(connection, {"partition": partition}).one_or_none()
    return row is not None and row.log == identity and log.sort_key(row.entry) >= log.sort_key(entry)


POSITIONS = Statement("SELECT partition, log, entry FROM positions")
POSITION = Statement("SELECT log, entry FROM positions WHERE partition = :partition")
