"""
The command `webhook`: adds, lists and removes webhooks, URLs of receivers that are sent what changes. `replay` switches
on one that has failed too often, `rotate` gives one a new secret.
"""

import asyncio
import socket
from argparse import ArgumentParser, Namespace
from datetime import UTC, datetime
from ipaddress import ip_address
from urllib.parse import urlsplit

from database import webhooks
from database.database import Database
from database.webhooks import Backlog, Webhook
from server.cli.database import run_action
from server.errors import CommandError
from server.settings import WrongSetting, read_settings
from server.signatures import new_secret
from store import log
from store.store import Store

HOUR = 3_600_000  # milliseconds
OVERLAP = 24  # hours for which messages are signed with the old secret, too
MAX_OVERLAP = 30 * 24  # hours
MAX_URL = 2_000  # characters
MOST = 50  # webhooks of a site


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, metavar="add | list | replay | rotate | remove")

    add = actions.add_parser("add", help="send changes of some kinds to a URL; prints the secret, once")
    add.add_argument("url", metavar="URL")
    add.add_argument("--kinds", required=True, metavar="KIND,...", help="kinds of changes, such as posted,commented")
    add.add_argument("--allow-private", action="store_true", help="the URL may be in a private network, at any port")
    add.set_defaults(action=_add)

    listing = actions.add_parser(
        "list", help="print all webhooks, what waits for them, and why the last try has failed"
    )
    listing.set_defaults(action=_list)

    replay = actions.add_parser("replay", help="switch a webhook on, and send all that waits for it, from now on")
    replay.add_argument("id", type=int, metavar="ID")
    replay.set_defaults(action=_replay)

    rotate = actions.add_parser("rotate", help="print a new secret; messages are signed with both for some hours")
    rotate.add_argument("id", type=int, metavar="ID")
    rotate.add_argument("--hours", type=int, default=OVERLAP, metavar="N", help="for how long; 0 ends the old one now")
    rotate.set_defaults(action=_rotate)

    remove = actions.add_parser("remove", help="end a webhook; what waits for it is not sent")
    remove.add_argument("id", type=int, metavar="ID")
    remove.set_defaults(action=_remove)


def run(arguments: Namespace) -> int:
    settings = read_settings()
    if settings.database is None:
        raise WrongSetting("UPVOTE_DATABASE_URL=none: webhooks need a database, in which their messages wait")
    return run_action(settings, lambda store, database: arguments.action(store, database, arguments))


async def _add(store: Store, database: Database, arguments: Namespace) -> None:
    from resolvers.changes import newest_position  # slow to import
    from server.webhooks.spooler import CONSUMER

    kinds = _kinds(arguments.kinds)
    await _check_url(arguments.url, arguments.allow_private)
    if len(await database.run(webhooks.webhooks)) >= MOST:
        raise CommandError(f"there are {MOST} webhooks already, which is the most: remove one first")
    position, secret = await newest_position(store.site), new_secret()
    given = (arguments.url, kinds, arguments.allow_private, secret, store.site.clock(), position.cursor)
    id, is_first = await database.write_durably(webhooks.add, *given)
    if is_first:  # from here on the log keeps its entries until they are taken for webhooks
        for partition, taken in enumerate(position.ids):
            await log.advance(store.site, CONSUMER, partition, taken)
    print(f"webhook {id}\nsecret  {secret}")


async def _list(store: Store, database: Database, arguments: Namespace) -> None:
    for hook, waiting in await database.run(webhooks.states):
        print(f"{hook.id}  {_state(hook, waiting)}  {hook.url}  {','.join(sorted(hook.kinds))}")
        if fault := hook.fault or waiting.fault:
            print(f"   {fault}")


async def _replay(store: Store, database: Database, arguments: Namespace) -> None:
    if not await database.write_durably(webhooks.replay, arguments.id, store.site.clock()):
        raise _missing(arguments.id)
    print(f"webhook {arguments.id} goes on")


async def _rotate(store: Store, database: Database, arguments: Namespace) -> None:
    if not 0 <= arguments.hours <= MAX_OVERLAP:
        raise CommandError(f"--hours is 0 to {MAX_OVERLAP}, not {arguments.hours}")
    secret, until = new_secret(), store.site.clock() + arguments.hours * HOUR
    if not await database.write_durably(webhooks.rotate, arguments.id, secret, until):
        raise _missing(arguments.id)
    print(f"secret  {secret}")


async def _remove(store: Store, database: Database, arguments: Namespace) -> None:
    from server.webhooks.spooler import CONSUMER  # slow to import

    if not await database.write_durably(webhooks.remove, arguments.id):
        raise _missing(arguments.id)
    if await database.run(webhooks.position) is None:  # it was the last one: the log keeps no entries for webhooks
        await log.forget(store.site, CONSUMER)
    print(f"removed webhook {arguments.id}")


def _missing(id: int) -> CommandError:
    return CommandError(f"there is no webhook {id}")


def _kinds(text: str) -> list[str]:
    from server.webhooks.messages import SENT_KINDS  # slow to import

    given = sorted({kind.strip() for kind in text.split(",")})
    if unknown := [kind for kind in given if kind not in SENT_KINDS]:
        raise CommandError(
            f"{unknown[0]!r} is no kind of change that is sent; the kinds are {', '.join(sorted(SENT_KINDS))}"
        )
    return given


async def _check_url(url: str, allow_private: bool) -> None:
    """
    Raises:
        CommandError: the URL is not one that messages can be sent to.
    """
    from ada_url import check_url

    from server.guarded_client import WEB_PORTS, is_public  # slow to import
    from server.webhooks.sender import port_of

    if not url.startswith(("http://", "https://")) or not check_url(url) or len(url) > MAX_URL:
        raise CommandError(f"{url}: it is not a URL with http or https, of at most {MAX_URL} characters")
    if allow_private:
        return
    host, port = urlsplit(url).hostname or "", port_of(url)
    if port not in WEB_PORTS:
        raise CommandError(f"{url}: the port is not 80 or 443; --allow-private allows others")
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise CommandError(f"{url}: the name {host} is not found") from error
    addresses = [str(host_and_port[0]) for *_, host_and_port in found]
    if not all(is_public(ip_address(each.partition("%")[0])) for each in addresses):  # without the zone after `%`
        raise CommandError(f"{url}: {host} is not on the public internet; --allow-private allows it")


def _state(hook: Webhook, waiting: Backlog) -> str:
    working = "failing" if waiting.fault else "on"
    state = working if hook.off_at is None else f"off since {_instant(hook.off_at)}"
    since = f", the oldest since {_instant(waiting.oldest)}" if waiting.oldest is not None else ""
    return f"{state}, {waiting.count} waiting{since}"


def _instant(milliseconds: int) -> str:
    return f"{datetime.fromtimestamp(milliseconds / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"
