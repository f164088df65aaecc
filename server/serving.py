"""Serving: one socket, our own Valkey unless there is another, and as many worker processes as wanted."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import uvicorn
from uvicorn.supervisors import Multiprocess

from server import guards, logs, metrics, valkey
from server.app import open_store, trusted_documents
from server.protocols import Guarded
from server.settings import Settings, WrongSetting
from server.upgrades import GuardedSocket

APP = "server.app:from_environment"
GRACE_SECONDS = 10
WS_MAX_SIZE = 65_536  # bytes of a message


def serve(settings: Settings) -> int:
    """Serve until a signal comes. What is being answered then is answered first."""
    logs.configure(settings)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    with _listening(settings) as listener, store_of(settings, _stop) as opened:
        asyncio.run(_check(opened))
        os.environ.update(opened.environment())  # for the workers, which read it
        _announce(settings, listener)
        _run(settings, listener)
    return 0


def _stop() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def store_of(
    settings: Settings, given_up: Callable[[], object] = lambda: None, *, joining: bool = False
) -> Iterator[Settings]:
    """
    The settings with the URL of a store that runs: the one they name, or our own.

    `joining`, our own is that of a server which keeps it already, if there is one. `given_up` is called where it ended
    and does not start again.
    """
    if settings.redis_url:
        yield settings
        return
    if settings.confirming_replicas:
        raise WrongSetting(f"UPVOTE_CONFIRMING_REPLICAS={settings.confirming_replicas}: our own Valkey has none")
    keep = valkey.joined if joining else valkey.running
    with keep(settings.data_dir, settings.durability, given_up) as url:
        yield settings.model_copy(update={"redis_url": url})


@contextmanager
def _listening(settings: Settings) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((settings.host, settings.port))
        except OSError as error:
            raise OSError(f"UPVOTE_HOST={settings.host}, UPVOTE_PORT={settings.port}: {error.strerror}") from error
        listener.listen()  # who connects from now on waits until we answer
        listener.set_inheritable(True)
        yield listener


async def _check(settings: Settings) -> None:
    trusted_documents(settings)
    store = await open_store(settings)
    kept = store.site.rankings.orders
    if settings.orders and set(kept) != set(settings.kept_orders):
        names = ",".join(order.name for order in kept)
        print(f"UPVOTE_ORDERS={settings.orders}: this store keeps {names} until `reindex`", file=sys.stderr)
    await store.close()


def _announce(settings: Settings, listener: socket.socket) -> None:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    address = f"http://{host}:{listener.getsockname()[1]}"
    data = _without_password(settings.redis_url) if settings.redis_url else settings.data_dir.resolve()
    print(f"explorer  {address}/\nendpoint  {address}/graphql\ndata      {data}", flush=True)


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _run(settings: Settings, listener: socket.socket) -> None:
    door = guards.door(settings)
    config = uvicorn.Config(
        APP,
        factory=True,
        http=partial(Guarded, door),  # type: ignore[arg-type]  # it is called, and nothing else
        ws=partial(GuardedSocket, door),  # type: ignore[arg-type]  # likewise
        workers=settings.workers,
        ws_max_size=WS_MAX_SIZE,
        ws_per_message_deflate=False,
        access_log=False,
        log_config=None,  # ours is for all
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    if settings.workers > 1:
        with TemporaryDirectory(prefix="upvote-metrics-") as folder:
            os.environ[metrics.FOLDER] = folder
            Multiprocess(config, [listener]).run()
    else:
        uvicorn.Server(config).run(sockets=[listener])
