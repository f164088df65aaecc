"""
What a client says before the body of a request, remembered: it says the same before the next one, but for the length.

Taking a head apart costs more than all else that is done for a request here. A head that was taken apart need not be
again as long as it is the same byte by byte: where requests end and bodies begin is never guessed.
"""

import re
from typing import Any

LONGEST = 4_096  # bytes of a head that is remembered
DIGITS = 7  # at most, of a length
TRIES = 3  # how often in a row a client may say another head before none is remembered any more
ODD = {b"expect", b"transfer-encoding", b"upgrade"}  # headers by which a body is more than its length
LENGTH = re.compile(rb"\r\nContent-Length: ?(\d+)\r\n", re.IGNORECASE)


class LastHead:
    """The head of a connection's last request, if it is one that may come again."""

    __slots__ = ("_after", "_before", "_place", "_scope", "_tries")

    def __init__(self) -> None:
        self._before = self._after = b""  # the digits of the length
        self._place = 0  # of the length among the headers
        self._scope: dict[str, Any] | None = None
        self._tries = TRIES

    def request_of(self, data: bytes) -> tuple[dict[str, Any], bytes] | None:
        """The scope and the body of the request that `data` is as a whole, if it has this head."""
        if self._scope is None or not data.startswith(self._before):
            return None
        start = len(self._before)
        end = data.find(b"\r", start, start + DIGITS + 1)
        digits, begin = data[start:end], end + len(self._after)
        if end < 0 or not digits.isdigit() or int(digits) != len(data) - begin:
            return None
        if not data.startswith(self._after, end):
            return None
        self._tries = TRIES
        scope = self._scope.copy()
        scope["headers"] = headers = scope["headers"].copy()
        headers[self._place] = (b"content-length", digits)
        return scope, data[begin:]

    def remember(self, data: bytes, scope: Any) -> None:
        """
        Remember the head of the request that `data` is as a whole, and which was understood as `scope`.

        Nothing is remembered where `data` is more than that or less, or the head is long or odd, or tells no length.
        """
        self._scope = None
        if not self._tries:
            return
        self._tries -= 1
        found = LENGTH.search(data, 0, LONGEST)
        size = data.find(b"\r\n\r\n") + 4
        if found is None or found.end() > size or size > LONGEST or size + int(found[1]) != len(data):
            return
        names = [name for name, _ in scope["headers"]]
        if ODD.isdisjoint(names):
            self._before, self._after = data[: found.start(1)], data[found.end(1) : size]
            self._place = names.index(b"content-length")
            self._scope = scope | {"headers": scope["headers"].copy()}
