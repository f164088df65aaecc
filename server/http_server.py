"""Runs uvicorn in this process, or in several worker processes."""

import asyncio
import logging
import os
import socket
import sys
from functools import partial
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import uvicorn

from server.app import create
from server.cli.password import link
from server.configured import files_of, issuers_of, languages_of, open_store, trusted_documents
from server.http.limited_protocol import LimitedHttp
from server.http.limited_websocket import LimitedWebSocket
from server.limits import connection_limiter, max_request_bytes
from server.observability import logs, metrics
from server.settings import Settings, WrongSetting
from server.supervisor import SHUTDOWN_SECONDS, ProcessSupervisor, listeners
from store import first_admin
from store.errors import Invalid
from store.first_admin import FirstAdmin
from store.store import Store

NO_SNIFFING = ("X-Content-Type-Options", "nosniff")  # on every response

logger = logging.getLogger("upvote")


def run(settings: Settings, settings_with_url: Settings, listener: socket.socket) -> None:
    """
    Print the addresses and serve until a signal comes. `settings` are those that were given; `settings_with_url` have
    the URL of a running store, too, also if this program runs its server (the managed Valkey).

    Raises:
        WrongSetting, StoreError: no worker could start; nothing is printed.
    """
    logs.configure(settings_with_url)
    asyncio.run(_check(settings_with_url, listener))
    os.environ.update(settings_with_url.environment())  # read by the workers
    _announce(settings, listener)
    _run(settings_with_url, listener)


async def _check(settings: Settings, listener: socket.socket) -> None:
    """
    Check all that the settings name before a worker starts, and make the first administrator if one is wanted.

    Raises:
        WrongSetting, StoreError: something is not as it should be, or the store does not answer.
    """
    trusted_documents(settings)  # raises, as does the next call, if a file cannot be used
    issuers_of(settings)
    files = files_of(settings)
    for fault in files.faults:
        logger.warning("%s", fault)
    languages_of(settings, files)
    store = await open_store(settings)
    kept = [order.name for order in store.site.rankings.orders]  # the orders of which the store has indexes
    remedy = f"the orders of this store are {','.join(kept)}; `reindex` changes them"
    if settings.orders and set(kept) != {order.name for order in settings.kept_orders}:
        print(f"UPVOTE_ORDERS={settings.orders}: {remedy}", file=sys.stderr)
    if missing := settings.orders_of_pages.missing(kept):
        setting, order = missing
        raise WrongSetting(f"UPVOTE_{setting}={order}: {remedy}")
    if settings.admin:
        await _make_first_admin(settings, store, settings.admin, _address(settings, listener))
    await store.close()


async def _make_first_admin(settings: Settings, store: Store, username: str, address: str) -> None:
    """
    Make the account of the first administrator unless it is there, and print once the link at which to choose its
    password. Where the site has no passwords, the line says how to connect the account with an issuer (a service
    outside at which users log in).
    """
    try:
        found = await first_admin.make(store.site, store.users, username)
    except Invalid as refusal:
        raise WrongSetting(f"UPVOTE_ADMIN={username}: {refusal.message}") from refusal
    if found is FirstAdmin.IS_TAKEN:
        grants = f"`upvote role grant {username} ADMIN`"
        print(f"UPVOTE_ADMIN={username}: somebody has this name, and is no admin; {grants} makes one", file=sys.stderr)
    if found is not FirstAdmin.MADE:
        return
    if settings.offers.has_passwords:
        text = f"{await link(store.site, settings.public_url or address, username)}  (good once, for an hour)"
    else:
        text = f"{username}, without a password: `upvote user link` names who it is at an issuer"
    print(f"admin     {text}", flush=True)
    await first_admin.done(store.site, username)  # the next start prints no link


def _announce(settings: Settings, listener: socket.socket) -> None:
    address = _address(settings, listener)
    data = _without_password(settings.redis_url) if settings.redis_url else settings.data_dir.resolve()
    try:
        print(*_addresses(settings, address, data), sep="\n", flush=True)
    except OSError as error:
        logger.warning("cannot print the address %s: %s", address, error.strerror)
        # in place of standard output, so that its flush at exit cannot fail
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _address(settings: Settings, listener: socket.socket) -> str:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{listener.getsockname()[1]}"


def _addresses(settings: Settings, address: str, data: object) -> list[str]:
    site = [f"site      {address}/"] if settings.reader == "on" else []
    return [*site, f"explorer  {address}/explorer", f"endpoint  {address}/graphql", f"data      {data}"]


def _without_password(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _run(settings: Settings, listener: socket.socket) -> None:
    if settings.workers == 1:
        uvicorn.Server(configuration(settings)).run(sockets=[listener])
        return
    with TemporaryDirectory(prefix="upvote-metrics-", ignore_cleanup_errors=True) as folder:
        os.environ[metrics.FOLDER] = folder
        logging.getLogger().addHandler(logs.Counting(metrics.Metrics().logged))
        ProcessSupervisor(listeners(listener, settings.workers)).run()


def configuration(settings: Settings, worker: int = 1) -> uvicorn.Config:
    """The configuration of uvicorn for the application and its limits. `worker` is the number of the process."""
    limiter = connection_limiter(settings)
    return uvicorn.Config(
        partial(create, settings, limiter, worker),
        factory=True,
        interface="asgi3",
        http=partial(LimitedHttp, limiter),  # type: ignore[arg-type]  # uvicorn only calls it
        ws=partial(LimitedWebSocket, limiter),  # type: ignore[arg-type]  # likewise
        ws_max_size=max_request_bytes(),
        ws_per_message_deflate=False,
        access_log=False,
        log_config=None,  # ours is configured already
        log_level="warning",
        server_header=False,
        headers=[NO_SNIFFING],
        proxy_headers=False,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
