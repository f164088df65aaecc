"""
The command `role`: `grant NAME ROLE` and `revoke NAME ROLE` change who is a moderator or an admin, `list` prints who
is. The log of moderation has the changes as actions of `operator`, whoever has a shell on the server.
"""

from argparse import ArgumentParser, Namespace
from datetime import UTC, datetime

from server.cli import opened_store
from server.errors import CommandError
from server.settings import read_settings
from store import keys, roles
from store.errors import Refusal
from store.maintenance import scan
from store.moderation_records import Role, RoleGrant
from store.roles import OPERATOR
from store.store import Store

REASON = "by a command of the shell"


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, metavar="grant | revoke | list")
    for name, action, summary in (
        ("grant", _grant, "give a user a role"),
        ("revoke", _revoke, "take a role from a user; never from the last admin"),
    ):
        command = actions.add_parser(name, help=summary, description=summary)
        command.add_argument("name", metavar="NAME", help="the name of the user")
        command.add_argument("role", metavar="ROLE", choices=[role.name for role in Role], help="ADMIN or MODERATOR")
        command.add_argument("--group", metavar="G", help="the group that it is for; the whole site by default")
        command.add_argument("--reason", default=REASON, help="why, for everybody to read in the log of moderation")
        command.set_defaults(action=action)

    listing = actions.add_parser("list", help="print who has which role, and since when")
    listing.set_defaults(action=_list)


def run(arguments: Namespace) -> int:
    opened_store.run(read_settings(), lambda store: arguments.action(store, arguments))
    return 0


async def _grant(store: Store, arguments: Namespace) -> None:
    role = Role[arguments.role]
    try:
        done = await roles.grant(store.site, OPERATOR, arguments.name, role, arguments.group, arguments.reason)
    except Refusal as refusal:
        raise CommandError(refusal.message) from refusal
    print(f"{arguments.name} is {_text(role, arguments.group)}" + ("" if done.changed else " already"))


async def _revoke(store: Store, arguments: Namespace) -> None:
    role = Role[arguments.role]
    try:
        done = await roles.revoke(store.site, OPERATOR, arguments.name, role, arguments.group, arguments.reason)
    except Refusal as refusal:
        raise CommandError(refusal.message) from refusal
    if not done.changed:
        raise CommandError(f"{arguments.name} is not {_text(role, arguments.group)}")
    print(f"{arguments.name} is no longer {_text(role, arguments.group)}")


async def holders(store: Store) -> set[str]:
    """The names, in lower case, of all who have a role. It reads the names of all keys."""
    return {name.lower() for group in await _groups(store) for name, _ in await roles.granted(store.site, group)}


async def _groups(store: Store) -> set[str | None]:
    """The groups that have moderators, and None for the site. It looks for their indexes among all keys."""
    groups: set[str | None] = {None}
    async for found in scan.known_keys(store.site, progress=lambda count: None):
        scopes = [key.suffix for key in found if key.kind is keys.moderators]
        groups |= {scope.removeprefix("group:") for scope in scopes if scope != roles.SITE}
    return groups


async def _list(store: Store, arguments: Namespace) -> None:
    for group in sorted(await _groups(store), key=lambda name: name or ""):
        for name, grants in await roles.granted(store.site, group):
            for grant in grants:
                if grant.group == group:  # the others are listed with their groups
                    print(_line(name, grant))


def _line(name: str, grant: RoleGrant) -> str:
    since = datetime.fromtimestamp(grant.granted_at / 1000, UTC)
    return f"{name}  {grant.role.name}  {grant.group or 'whole site'}  {since:%Y-%m-%dT%H:%M:%SZ}"


def _text(role: Role, group: str | None) -> str:
    article = "an" if role is Role.ADMIN else "a"
    return f"{article} {role.name} of {f'the group {group.lower()}' if group else 'the whole site'}"
