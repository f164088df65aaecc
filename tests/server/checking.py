"""
A service as the setting UPVOTE_CHECK_URL names one: Upvote asks it about each text before it is posted. This one
verifies the signatures of requests, and answers as a test tells it. Receivers of webhooks use its answers, too.
"""

import base64
import hashlib
import hmac
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = b"a key of twenty-six bytes!"
SECRET = f"whsec_{base64.b64encode(KEY).decode()}"

Answer = Callable[[BaseHTTPRequestHandler], None]


class Service(ThreadingHTTPServer):
    """
    `asked` has the bodies of the requests whose signature is right, and `ids` their ids; `forged` counts the others.
    `answer` writes the answer to each request.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[dict[str, Any]] = []
        self.ids: list[str] = []
        self.forged = 0
        self.answer: Answer = nothing

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/check?of=texts"

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that do not wait for the whole answer are part of the tests."""


class Handler(BaseHTTPRequestHandler):
    server: Service
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        id, at = self.headers["webhook-id"], self.headers["webhook-timestamp"]
        signed = hmac.new(KEY, f"{id}.{at}.".encode() + body, hashlib.sha256).digest()
        is_right = self.headers["webhook-signature"] == f"v1,{base64.b64encode(signed).decode()}"
        if is_right and abs(time.time() - int(at)) < 60 and self.path == "/check?of=texts":
            self.server.asked.append(json.loads(body))
            self.server.ids.append(id)
        else:
            self.server.forged += 1
        self.server.answer(self)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@contextmanager
def service() -> Iterator[Service]:
    with Service() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield running
        finally:
            running.shutdown()
            thread.join()


def nothing(handler: BaseHTTPRequestHandler) -> None:
    """Answer 204, which lets a text pass."""
    handler.send_response(204)
    handler.end_headers()


def body(content: bytes, status: int = 200, **headers: str) -> Answer:
    """An answer with a body."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in ({"content-length": str(len(content))} | headers).items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def saying(**given: object) -> Answer:
    """An answer with this JSON object."""
    return body(json.dumps(given).encode())


def hang_up(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def wait(handler: BaseHTTPRequestHandler) -> None:
    """Answer after 3 seconds: Upvote waits 1."""
    time.sleep(3)
    nothing(handler)


def drip(handler: BaseHTTPRequestHandler) -> None:
    """Send a body so slowly that it is late as a whole, though no single read times out."""
    handler.send_response(200)
    handler.send_header("content-length", "100")
    handler.end_headers()
    for _ in range(30):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.1)


def speak_nonsense(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"220 mail.example ESMTP\r\n\r\n")
    handler.close_connection = True
