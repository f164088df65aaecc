"""A worker process. What it needs is imported late, so that it ends with its parent from its first moments on."""

import os
import signal
import socket
import sys
import threading
import time
from multiprocessing.connection import Connection

STARTUP_FAILURE = 3  # uvicorn's exit code
GRACE_SECONDS = 10  # for what was asked to be answered

_is_serving = threading.Event()


def run(number: int, listener: socket.socket, parent: "Connection[object, object]") -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's Ctrl-C is for the parent, who then ends us
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    threading.Thread(target=_answer, args=(parent,), name="parent", daemon=True).start()

    from server.http_server import serve
    from server.observability import log_stream, logs
    from server.settings import read_settings

    log_stream.install()
    settings = read_settings()
    logs.configure(settings)
    _is_serving.set()
    serve(settings, listener, number)


def _answer(parent: "Connection[object, object]") -> None:
    """Tell the parent that this process lives, until the parent lives no more: the pipe has an end then."""
    try:
        while True:
            parent.send(parent.recv())
    except (OSError, EOFError):
        _end()


def _end() -> None:
    """Answer what was asked, if anything was, and end."""
    if _is_serving.is_set():
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE_SECONDS + 2)
    os._exit(1)
