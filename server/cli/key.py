"""
The command `key`: `create NAME` prints a server key once, `revoke NAME` ends it, `list` prints the names of all. A
server key is for another server of the site, which sends requests of its visitors; each key has its own rate limit.
"""

from argparse import ArgumentParser, Namespace
from datetime import UTC, datetime

from server.cli import opened_store
from server.errors import CommandError
from server.settings import read_settings
from store.server_keys import NAME
from store.store import Store


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, metavar="create | revoke | list")

    create = actions.add_parser("create", help="print a new server key; it cannot be shown again")
    create.add_argument("name", metavar="NAME")
    create.set_defaults(action=_create)

    revoke = actions.add_parser("revoke", help="let all servers refuse a key, within a second")
    revoke.add_argument("name", metavar="NAME")
    revoke.set_defaults(action=_revoke)

    listing = actions.add_parser("list", help="print the names of the server keys, and when they were created")
    listing.set_defaults(action=_list)


def run(arguments: Namespace) -> int:
    opened_store.run(read_settings(), lambda store: arguments.action(store, arguments), must_exist=False)
    return 0


async def _create(store: Store, arguments: Namespace) -> None:
    if not NAME.fullmatch(arguments.name):
        raise CommandError(
            f"{arguments.name}: a name is 1 to 50 of a-z, 0-9, _ and -, and begins with a letter or digit"
        )
    text = await store.server_keys.create(arguments.name)
    if text is None:
        raise CommandError(f"there is a server key {arguments.name} already: revoke it first, or choose another name")
    print(text)


async def _revoke(store: Store, arguments: Namespace) -> None:
    if not await store.server_keys.revoke(arguments.name):
        raise CommandError(f"there is no server key {arguments.name}")
    print(f"revoked {arguments.name}")


async def _list(store: Store, arguments: Namespace) -> None:
    for name, created in (await store.server_keys.created()).items():
        print(f"{name}  {datetime.fromtimestamp(created / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}")
