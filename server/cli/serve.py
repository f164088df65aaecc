"""The command `serve`: listens at the address, starts the store, and then the HTTP server."""

import errno
import gc
import os
import signal
import socket
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from server.cli import opened_store
from server.managed_valkey.server import ORPHAN_SECONDS
from server.observability.log_stream import install_stream
from server.settings import Settings, read_settings


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--trusted-documents", metavar="FILE", help="documents that graphql-codegen or Relay wrote")
    parser.add_argument("--only-trusted", action="store_const", const="on", help="refuse all other documents")


def run(arguments: Namespace) -> int:
    settings = read_settings(trusted_documents=arguments.trusted_documents, only_trusted=arguments.only_trusted)
    with listening(settings) as listener:
        return serve(settings, listener)


def serve(settings: Settings, listener: socket.socket) -> int:
    """Serve until a signal comes. Requests in progress are completed first."""
    install_stream()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    with opened_store.running_store(settings, on_failure=_stop, while_loading=_http_server) as settings_with_url:
        _http_server()(settings, settings_with_url, listener)
    return 0


def _http_server() -> Callable[[Settings, Settings, socket.socket], None]:
    """
    Import the HTTP server; the second call returns at once. The import takes longer than the managed Valkey needs to
    load its data, so both run at the same time.
    """
    gc.disable()  # imported objects are never freed
    from server.http_server import run

    gc.freeze()
    gc.enable()
    return run


def _stop() -> None:
    """Stop this process as a signal would: the managed Valkey has ended and cannot be restarted."""
    os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def listening(settings: Settings) -> Iterator[socket.socket]:
    """A listening socket. Workers of a killed server may hold the address for a moment, so binding is tried again."""
    deadline = time.monotonic() + ORPHAN_SECONDS
    while True:
        try:
            listener = _listener(settings)
            break
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() > deadline:
                address = f"UPVOTE_HOST={settings.host}, UPVOTE_PORT={settings.port}"
                raise OSError(f"{address}: {error.strerror}") from error
            time.sleep(0.05)
    with listener:
        yield listener


def _listener(settings: Settings) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in settings.host else socket.AF_INET)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((settings.host, settings.port))
        listener.listen()  # early connections wait in the backlog until the server accepts them
    except OSError:
        listener.close()
        raise
    return listener
