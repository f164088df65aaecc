"""
What a client says before the body of a request, remembered: it says the same before the next one, but for the length.

Taking a head apart costs more than all else that is done for a request here. A head that was taken apart need not be
again as long as it is the same byte by byte: where requests end and bodies begin is never guessed.
"""

import re
from typing import Any, NamedTuple

LONGEST = 4_096  # bytes of a head that is remembered
DIGITS = 7  # at most, of a length
ODD = {b"expect", b"transfer-encoding", b"upgrade"}  # headers by which a body is more than its length
LENGTH = re.compile(rb"\r\nContent-Length: ?(\d+)\r\n", re.IGNORECASE)


class Head(NamedTuple):
    """The bytes around the digits of the length, the length's place among the headers, and what the rest means."""

    before: bytes
    after: bytes
    place: int
    scope: dict[str, Any]

    def request_of(self, data: bytes) -> tuple[dict[str, Any], bytes] | None:
        """The scope and the body of the request that `data` is as a whole, if it has this head."""
        if not data.startswith(self.before):
            return None
        start = len(self.before)
        end = data.find(b"\r", start, start + DIGITS + 1)
        digits, begin = data[start:end], end + len(self.after)
        if end < 0 or not digits.isdigit() or int(digits) != len(data) - begin or not data.startswith(self.after, end):
            return None
        scope = self.scope.copy()
        scope["headers"] = headers = scope["headers"].copy()
        headers[self.place] = (b"content-length", digits)
        return scope, data[begin:]


def head_of(data: bytes, scope: dict[str, Any]) -> Head | None:
    """
    The head of the request that `data` is as a whole, and which was understood as `scope`.

    None where `data` is more than that or less, and where the head is long or odd, or tells no length.
    """
    found = LENGTH.search(data, 0, LONGEST)
    size = data.find(b"\r\n\r\n") + 4
    if found is None or found.end() > size or size > LONGEST or size + int(found[1]) != len(data):
        return None
    names = [name for name, _ in scope["headers"]]
    if not ODD.isdisjoint(names):
        return None
    kept = scope | {"headers": scope["headers"].copy()}
    return Head(data[: found.start(1)], data[found.end(1) : size], names.index(b"content-length"), kept)
