"""
The command line, `python -m server COMMAND`, installed as `upvote` too.

A command imports what it needs when it is run: that takes its time, and `serve` is to start its Valkey first.
"""

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from pathlib import Path

from server.cli import ranking_arguments, session
from server.errors import CommandError
from server.lab import arguments as lab
from server.settings import read_settings
from store.errors import StoreError
from store.keys import SLOTS

MOST_FOLLOWED = 10_000


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = _parser().parse_args(arguments)
    try:
        code: int = chosen.run(chosen)
        return code
    except (CommandError, StoreError, OSError) as error:
        cause = (
            f" ({error.__cause__})".replace("LOST ", "") if isinstance(error, StoreError) and error.__cause__ else ""
        )
        print(f"upvote: {error}{cause}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog="upvote", description="A GraphQL server for communities that rank by votes.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    serve = commands.add_parser(
        "serve", help="start the server, and a Valkey of its own unless UPVOTE_REDIS_URL is set"
    )
    serve.add_argument("--trusted-documents", metavar="FILE", help="documents that graphql-codegen or Relay wrote")
    serve.add_argument("--only-trusted", action="store_const", const="on", help="refuse all other documents")
    serve.set_defaults(run=_serve)

    sample = commands.add_parser("demo", help="serve a store of its own that holds a small sample, until it is stopped")
    sample.set_defaults(run=_demo)

    stories = commands.add_parser("import", help="bring in stories from a CSV or JSON lines file")
    stories.add_argument("file", type=Path, help="with id, title, url, points, comments, author, created_at")
    stories.add_argument("--shift-to-now", action="store_true", help="move all times so that the newest story is now")
    stories.add_argument("--with-voters", action="store_true", help="create the voters of stories still open to votes")
    stories.add_argument("--follow", type=_count, default=0, metavar="N", help="let each author follow N others")
    stories.set_defaults(run=_import)

    verify = commands.add_parser("verify", help="report every broken invariant of the store")
    verify.add_argument("--repair", action="store_true", help="mend what can be derived")
    verify.set_defaults(run=_verify)

    replayed = commands.add_parser("lab", help="replay a file of stories and compare orders and weights")
    lab.add_to(replayed)
    replayed.set_defaults(run=_lab)

    backup = commands.add_parser("backup", help="write all of the store into a file, while it is served or not")
    backup.add_argument("file", type=Path, help="takes its name once it is whole")
    backup.set_defaults(run=_back_up)

    restore = commands.add_parser("restore", help="fill an empty store with a backup")
    restore.add_argument("file", type=Path, help="what `backup` wrote; it is checked before anything is written")
    restore.add_argument("--partitions", type=int, metavar="N", help="into so many, in place of as many as there were")
    restore.set_defaults(run=_restore)

    move = commands.add_parser("move", help="copy the store to an empty one, and take no more writes")
    place = move.add_mutually_exclusive_group(required=True)
    place.add_argument("--to", type=_store, metavar="URL", help="a Redis or Valkey, a cluster, or what sentinels watch")
    place.add_argument("--undo", action="store_true", help="let a store that was moved take writes again")
    move.add_argument(
        "--partitions", type=_partitions, metavar="N", help="into so many, in place of as many as there are"
    )
    move.set_defaults(run=_move)

    orders = commands.add_parser("reindex", help="let the store keep the orders of UPVOTE_ORDERS and no others")
    orders.set_defaults(run=_reindex)
    ranking_arguments.add_to(
        commands.add_parser("ranking", help="show by what the site and its groups are ranked, or set it")
    )

    schema = commands.add_parser("schema", help="print the GraphQL schema, sorted")
    schema.set_defaults(run=_schema)
    return parser


def _serve(chosen: Namespace) -> int:
    return session.serve(read_settings(trusted_documents=chosen.trusted_documents, only_trusted=chosen.only_trusted))


def _demo(chosen: Namespace) -> int:
    from server.cli import demo

    return demo.run(read_settings())


def _import(chosen: Namespace) -> int:
    from server.cli import import_stories

    options = import_stories.Options(chosen.shift_to_now, chosen.with_voters, chosen.follow)
    return import_stories.run(read_settings(), chosen.file, options)


def _verify(chosen: Namespace) -> int:
    from server.cli import verify as verifying

    return verifying.run(read_settings(), chosen.repair)


def _lab(chosen: Namespace) -> int:
    from server.lab import command

    return command.run(chosen.file, lab.options(chosen))


def _back_up(chosen: Namespace) -> int:
    from server.cli import backup as backups

    return backups.back_up(read_settings(), chosen.file)


def _restore(chosen: Namespace) -> int:
    from server.cli import backup as backups

    return backups.restore(read_settings(partitions=chosen.partitions), chosen.file)


def _move(chosen: Namespace) -> int:
    from server.cli import move as moves

    return moves.undo(read_settings()) if chosen.undo else moves.run(read_settings(), chosen.to, chosen.partitions)


def _reindex(chosen: Namespace) -> int:
    from server.cli import ranking

    return ranking.reindex(read_settings())


def _schema(chosen: Namespace) -> int:
    from schema import schema as contract

    print(contract.text(), end="")
    return 0


def _store(url: str) -> str:
    from store.client import urls

    try:
        urls.parse(url)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error
    return url


def _partitions(text: str) -> int:
    count = int(text)
    if not 1 <= count <= SLOTS or count & (count - 1):
        raise ArgumentTypeError(f"{text} is no power of two up to {SLOTS}")
    return count


def _count(text: str) -> int:
    count = int(text)
    if not 0 <= count <= MOST_FOLLOWED:
        raise ValueError
    return count


if __name__ == "__main__":
    sys.exit(main())
