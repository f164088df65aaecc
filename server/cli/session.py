"""Serving: one socket, our own Valkey unless there is another, and then what answers."""

import errno
import gc
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from server.managed_valkey import server
from server.observability import log_stream
from server.settings import Settings, WrongSetting


def serve(settings: Settings) -> int:
    """Serve until a signal comes. What is being answered then is answered first."""
    log_stream.install()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    with _listening(settings) as listener, store_of(settings, _stop, _answering) as opened:
        _answering()(settings, opened, listener)
    return 0


def _answering() -> Callable[[Settings, Settings, socket.socket], None]:
    """What answers. To import it takes longer than our own Valkey loads its data, so that is done meanwhile."""
    gc.disable()  # what is imported stays
    from server.cli.serve import run

    gc.freeze()
    gc.enable()
    return run


def _stop() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def store_of(
    settings: Settings,
    given_up: Callable[[], object] = lambda: None,
    meanwhile: Callable[[], object] = lambda: None,
    *,
    joining: bool = False,
) -> Iterator[Settings]:
    """
    The settings with the URL of a store that runs: the one they name, or our own.

    `joining`, our own is that of a server which keeps it already, if there is one. `given_up` is called where it ended
    and does not start again, `meanwhile` while it loads its data.
    """
    if settings.redis_url:
        yield settings
        return
    if settings.confirming_replicas:
        raise WrongSetting(f"UPVOTE_CONFIRMING_REPLICAS={settings.confirming_replicas}: our own Valkey has none")
    keep = server.joined if joining else server.running
    with keep(settings.data_dir, settings.durability, given_up, meanwhile, settings.disk_reserve) as url:
        yield settings.model_copy(update={"redis_url": url})


@contextmanager
def _listening(settings: Settings) -> Iterator[socket.socket]:
    """A socket at the address. Workers of a killed server may take a moment to give it back."""
    deadline = time.monotonic() + server.ORPHAN_SECONDS
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
        listener.listen()  # who connects from now on waits until we answer
    except OSError:
        listener.close()
        raise
    return listener
