"""The command line, `python -m server COMMAND`, installed as `upvote` too."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from schema import contract
from server import backups, demo, imports, moves, ranking, serving, verifying, weights
from server.archives import BrokenBackup
from server.imports import Options
from server.lab import arguments as lab
from server.lab import command
from server.lab.experiments import NotReplayed
from server.rows import NotStories
from server.settings import WrongSetting, read_settings
from server.valkey import DataInUse, ValkeyFailed
from store import routes
from store.errors import StoreError
from store.keys import SLOTS

MOST_FOLLOWED = 10_000
FAULTS = (WrongSetting, NotStories, NotReplayed, BrokenBackup, DataInUse, ValkeyFailed, StoreError, OSError)


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = _parser().parse_args(arguments)
    try:
        code: int = chosen.run(chosen)
        return code
    except FAULTS as error:
        cause = (
            f" ({error.__cause__})".replace("LOST ", "") if isinstance(error, StoreError) and error.__cause__ else ""
        )
        print(f"upvote: {error}{cause}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="upvote", description="A GraphQL server for communities that rank by votes.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    serve = commands.add_parser(
        "serve", help="start the server, and a Valkey of its own unless UPVOTE_REDIS_URL is set"
    )
    serve.add_argument("--trusted-documents", metavar="FILE", help="documents that graphql-codegen or Relay wrote")
    serve.add_argument("--only-trusted", action="store_const", const="on", help="refuse all other documents")
    serve.set_defaults(
        run=lambda chosen: serving.serve(
            read_settings(trusted_documents=chosen.trusted_documents, only_trusted=chosen.only_trusted)
        )
    )

    sample = commands.add_parser("demo", help="serve a store of its own that holds a small sample, until it is stopped")
    sample.set_defaults(run=lambda chosen: demo.run(read_settings()))

    stories = commands.add_parser("import", help="bring in stories from a CSV or JSON lines file")
    stories.add_argument("file", type=Path, help="with id, title, url, points, comments, author, created_at")
    stories.add_argument("--shift-to-now", action="store_true", help="move all times so that the newest story is now")
    stories.add_argument("--with-voters", action="store_true", help="create the voters of stories still open to votes")
    stories.add_argument("--follow", type=_count, default=0, metavar="N", help="let each author follow N others")
    stories.set_defaults(
        run=lambda chosen: imports.run(
            read_settings(), chosen.file, Options(chosen.shift_to_now, chosen.with_voters, chosen.follow)
        )
    )

    verify = commands.add_parser("verify", help="report every broken invariant of the store")
    verify.add_argument("--repair", action="store_true", help="mend what can be derived")
    verify.set_defaults(run=lambda chosen: verifying.run(read_settings(), chosen.repair))

    replayed = commands.add_parser("lab", help="replay a file of stories and compare orders and weights")
    lab.add_to(replayed)
    replayed.set_defaults(run=lambda chosen: command.run(chosen.file, lab.options(chosen)))

    backup = commands.add_parser("backup", help="write all of the store into a file, while it is served or not")
    backup.add_argument("file", type=Path, help="takes its name once it is whole")
    backup.set_defaults(run=lambda chosen: backups.back_up(read_settings(), chosen.file))

    restore = commands.add_parser("restore", help="fill an empty store with a backup")
    restore.add_argument("file", type=Path, help="what `backup` wrote; it is checked before anything is written")
    restore.add_argument("--partitions", type=int, metavar="N", help="into so many, in place of as many as there were")
    restore.set_defaults(run=lambda chosen: backups.restore(read_settings(partitions=chosen.partitions), chosen.file))

    move = commands.add_parser("move", help="copy the store to an empty one, and take no more writes")
    place = move.add_mutually_exclusive_group(required=True)
    place.add_argument("--to", type=_store, metavar="URL", help="a Redis or Valkey, a cluster, or what sentinels watch")
    place.add_argument("--undo", action="store_true", help="let a store that was moved take writes again")
    move.add_argument(
        "--partitions", type=_partitions, metavar="N", help="into so many, in place of as many as there are"
    )
    move.set_defaults(
        run=lambda chosen: (
            moves.undo(read_settings()) if chosen.undo else moves.run(read_settings(), chosen.to, chosen.partitions)
        )
    )

    orders = commands.add_parser("reindex", help="let the store keep the orders of UPVOTE_ORDERS and no others")
    orders.set_defaults(run=lambda chosen: ranking.reindex(read_settings()))
    weights.add_to(commands.add_parser("ranking", help="show by what the site and its groups are ranked, or set it"))

    schema = commands.add_parser("schema", help="print the GraphQL schema, sorted")
    schema.set_defaults(run=lambda chosen: print(contract.text(), end="") or 0)
    return parser


def _store(url: str) -> str:
    try:
        routes.read(url)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return url


def _partitions(text: str) -> int:
    count = int(text)
    if not 1 <= count <= SLOTS or count & (count - 1):
        raise argparse.ArgumentTypeError(f"{text} is no power of two up to {SLOTS}")
    return count


def _count(text: str) -> int:
    count = int(text)
    if not 0 <= count <= MOST_FOLLOWED:
        raise ValueError
    return count


if __name__ == "__main__":
    sys.exit(main())
