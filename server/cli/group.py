"""
The command `group`, on the list of groups that admins have made: `add NAME` puts a group on it and changes what is
written about the group, `remove NAME` takes it off, `list` prints the list.
"""

from argparse import ArgumentParser, Namespace
from datetime import UTC, datetime

from server.cli import opened_store
from server.errors import CommandError
from server.settings import read_settings
from store.errors import Invalid
from store.groups import checked_edit
from store.store import Store


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, metavar="add | remove | list")

    add = actions.add_parser("add", help="list a group, and change its title and text as given")
    add.add_argument("name", metavar="NAME")
    add.add_argument("--title", metavar="TEXT", help='the name as people read it; "" removes it')
    add.add_argument("--about", metavar="TEXT", help='Markdown that says what belongs there; "" removes it')
    add.set_defaults(action=_add)

    remove = actions.add_parser("remove", help="take a group from the list; its articles and its text stay")
    remove.add_argument("name", metavar="NAME")
    remove.set_defaults(action=_remove)

    listing = actions.add_parser("list", help="print the listed groups, since when they are listed, and their titles")
    listing.set_defaults(action=_list)


def run(arguments: Namespace) -> int:
    settings = read_settings()
    if "name" in arguments:  # not for `list`
        try:
            checked_edit(arguments.name, _changes(arguments))  # raises before the store is opened
        except Invalid as fault:
            raise CommandError("; ".join(each.message for each in (fault, *fault.others))) from fault
    opened_store.run(settings, lambda store: arguments.action(store, arguments), must_exist=False)
    return 0


async def _add(store: Store, arguments: Namespace) -> None:
    is_changed = await store.groups.add(arguments.name, _changes(arguments))
    print(f"{arguments.name.lower()} {'is listed' if is_changed else 'was listed so before'}")


async def _remove(store: Store, arguments: Namespace) -> None:
    if not await store.groups.remove(arguments.name):
        raise CommandError(f"the group {arguments.name.lower()} is not listed")
    print(f"{arguments.name.lower()} is not listed any more")


async def _list(store: Store, arguments: Namespace) -> None:
    for name, group in (await store.groups.listed()).items():
        since = datetime.fromtimestamp((group.listed_at or 0) / 1000, UTC)
        print(f"{name}  {since:%Y-%m-%dT%H:%M:%SZ}  {group.title or ''}".rstrip())


def _changes(arguments: Namespace) -> dict[str, str]:
    given = {"title": getattr(arguments, "title", None), "about": getattr(arguments, "about", None)}
    return {name: text for name, text in given.items() if text is not None}
