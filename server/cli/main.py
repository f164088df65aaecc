"""
The table of commands, and the entry point `upvote`.

Only the module of the chosen command is imported, so that `serve` starts its Valkey before the slow imports.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from importlib import import_module

from server.errors import CommandError
from store.errors import StoreError

COMMANDS = {  # name: module, summary
    "serve": ("server.cli.serve", "start the server, and the managed Valkey unless UPVOTE_REDIS_URL is set"),
    "demo": ("server.cli.demo", "serve a small sample from a temporary store"),
    "import": ("server.cli.import_stories", "import stories and comments from CSV or JSON lines files"),
    "verify": ("server.cli.verify", "check the store and report each inconsistency"),
    "lab": ("server.lab.command", "replay a file of stories and compare orders and weights"),
    "backup": ("server.cli.backup", "write the whole store to a file; servers may be running"),
    "restore": ("server.cli.restore", "fill an empty store from a backup"),
    "move": ("server.cli.move", "copy the store to an empty one and refuse writes from then on"),
    "database": ("server.cli.database", "show how far the database is, or make it again from the store and its log"),
    "log": ("server.cli.log", "show how far the consumers of the log are, or remove one"),
    "reindex": ("server.cli.reindex", "build the orders that UPVOTE_ORDERS names, and drop all others"),
    "ranking": ("server.cli.ranking", "show or change the ranking weights of the site and its groups"),
    "key": ("server.cli.key", "create, revoke or list the keys of servers that send requests of their visitors"),
    "webhook": ("server.cli.webhook", "add, list, replay, rotate or remove receivers that are sent what changes"),
    "user": ("server.cli.user", "create accounts, invite people to register, or let somebody at an issuer be a user"),
    "password": ("server.cli.password", "print a link by which a user chooses a new password"),
    "role": ("server.cli.role", "grant, revoke or list the roles of moderators and admins"),
    "group": ("server.cli.group", "list groups that articles may be added to, with titles and texts"),
    "moderation": ("server.cli.moderation", "revert what a moderator did since a time, or redact a reason or a note"),
    "purge": ("server.cli.purge", "delete the text of an article or a comment for good, and say which backups have it"),
    "rules": (
        "server.cli.rules",
        "print an example of the file that UPVOTE_RULES names, or try such a file on the past",
    ),
    "rings": ("server.cli.rings", "find accounts that vote for each other far more often than chance explains"),
    "theme": ("server.cli.theme", "print a built-in theme, from which to make one's own"),
    "schema": ("server.cli.schema", "print the GraphQL schema, sorted"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    chosen = _parser(given[0] if given else "").parse_args(given)
    try:
        code: int = chosen.run(chosen)
        return code
    except (CommandError, StoreError, OSError) as error:
        print(f"upvote: {error}{_cause(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _parser(chosen: str) -> ArgumentParser:
    """A parser of all commands. Only the chosen command's own arguments are declared."""
    parser = ArgumentParser(prog="upvote", description="A GraphQL server for communities that rank by votes.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (module_name, summary) in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary)
        if name == chosen:
            module = import_module(module_name)
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser


def _cause(error: Exception) -> str:
    """The cause of a StoreError, without the Redis client's prefix LOST."""
    if not isinstance(error, StoreError) or error.__cause__ is None:
        return ""
    return f" ({error.__cause__})".replace("LOST ", "")
