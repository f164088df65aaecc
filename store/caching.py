"""
What was read over a link, for as long as it is true.

The server tells of every change to these keys on the very link that is read over (CLIENT TRACKING, RESP3), in the order
in which things happen. So who has had a reply to anything that was sent over this link knows that all changes before
it have been heard, and what is found here then is what reading it again would give: no older, whoever wrote it and
through whatever process. The link's end is the end of what is kept here.
"""

from collections.abc import Sequence
from typing import Any

from hiredis import ReplyError

from store import keys

LONGEST = 4_000  # characters of a hash that is worth keeping
ELSEWHERE = ("MOVED", "READONLY", "CLUSTERDOWN", "MASTERDOWN")  # faults that say that this is not the server to ask


class Cache:
    """
    Hashes by key, each as it was read or as the record that was made of it.

    `as_of` is the instant of the monotonic clock up to which all changes have been heard.
    """

    def __init__(self, most: int) -> None:
        self.entries: dict[str, Any] = {}
        self.as_of = float("-inf")
        self._most = most

    def begin(self) -> tuple[str, ...]:
        """The command that makes the server tell of changes."""
        prefixes = [word for prefix in keys.CACHED for word in ("PREFIX", prefix)]
        return ("CLIENT", "TRACKING", "ON", "BCAST", *prefixes)

    def replied(self, command: Sequence[object], reply: dict[str, str] | ReplyError) -> None:
        """Keep a hash, unless it is long; forget everything where the server says that others are to be asked."""
        if isinstance(reply, ReplyError):
            if str(reply).startswith(ELSEWHERE):
                self.entries.clear()
        elif reply and command[0] == "HGETALL" and sum(map(len, reply.values())) <= LONGEST:
            key = str(command[1])
            if key.startswith(keys.CACHED):
                self._make_room()
                self.entries[key] = reply

    def changed(self, names: Sequence[str] | None) -> None:
        """Forget these keys; None means all there are."""
        if names is None:
            self.entries.clear()
        else:
            for name in names:
                self.entries.pop(name, None)

    def _make_room(self) -> None:
        if len(self.entries) >= self._most:
            del self.entries[next(iter(self.entries))]  # the oldest
