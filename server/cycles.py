"""A request and its response as uvicorn carries them, but for answers that are there as a whole."""

from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

CONTROLS = bytes({*range(32), 127} - {ord("\t")})  # which no header may hold


class Cycle(RequestResponseCycle):
    """
    Holds the head of a response back until the first of its body is there, and writes a whole one at once.

    Each write is a system call, and costs more than all that is done here.
    """

    _start: dict[str, Any] | None = None

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start" and not self.response_started:
            self._start = message
            return
        start, self._start = self._start, None
        if start is not None:
            if head := self._head_of_whole(start, message):
                self._write_whole(head, message["body"])
                return
            await super().send(start)  # type: ignore[arg-type]  # it is one
        await super().send(message)

    def _head_of_whole(self, start: dict[str, Any], message: dict[str, Any]) -> bytes | None:
        """The head of a response that `message` makes whole; None where anything is out of the ordinary."""
        named = dict(start["headers"])
        length = named.get(b"content-length")
        if length is None or message.get("more_body") or length != b"%d" % len(message.get("body", b"")):
            return None
        if b"connection" in named or self.scope["method"] == "HEAD" or self.access_log:
            return None
        if self.disconnected or self.flow.write_paused:
            return None
        lines = [b"%b: %b\r\n" % header for header in (*self.default_headers, *start["headers"])]
        if not self.keep_alive:
            lines.append(b"connection: close\r\n")
        headers = b"".join(lines)
        if len(headers) - len(headers.translate(None, CONTROLS)) != len(lines) * len(b"\r\n"):
            return None
        return b"%b%b\r\n" % (STATUS_LINE[start["status"]], headers)

    def _write_whole(self, head: bytes, body: bytes) -> None:
        self.transport.writelines((head, body))
        self.response_started = self.response_complete = True
        self.waiting_for_100_continue = False
        self.message_event.set()
        if not self.keep_alive:
            self.transport.close()
        self.on_response()
