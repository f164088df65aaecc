"""What travels on a socket: the client's frames read into messages, and the codes by which a socket is closed."""

from enum import IntEnum
from typing import Any

from starlette.types import Message

from engine.errors import Refused
from engine.json import decode


class Close(IntEnum):
    TOO_FAST = 1008
    TOO_BIG = 1009
    STOPPING = 1012
    BAD_REQUEST = 4400
    UNAUTHORIZED = 4401
    NO_SUCH_PROTOCOL = 4406
    INIT_TIMEOUT = 4408
    ID_IN_USE = 4409
    INIT_TWICE = 4429


class Closed(Exception):
    """The client broke the protocol in a way that ends the socket."""

    def __init__(self, code: Close, reason: str) -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason


def read(frame: Message, max_message: int) -> dict[str, Any]:
    text = frame.get("text")
    if text is None:
        raise Closed(Close.BAD_REQUEST, "a message is a text frame")
    if len(text) > max_message:
        raise Closed(Close.TOO_BIG, f"a message is longer than {max_message} characters")
    try:
        message = decode(text)
    except Refused:
        raise Closed(Close.BAD_REQUEST, "a message is not JSON") from None
    if not isinstance(message, dict):
        raise Closed(Close.BAD_REQUEST, "a message is not an object")
    return message


def closing(code: Close, reason: str) -> Message:
    return {"type": "websocket.close", "code": int(code), "reason": reason}
