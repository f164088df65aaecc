"""The command `user`: `link NAME ISSUER SUBJECT`."""

from argparse import ArgumentParser, Namespace

from server.app import issuers_of
from server.cli import session
from server.errors import CommandError
from server.settings import read_settings
from store.errors import Refusal
from store.identities import SUBJECT_LENGTH, Subject
from store.store import Store


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, metavar="link")
    summary = "let the tokens of somebody at an issuer be those of an existing user"
    link = actions.add_parser("link", help=summary, description=summary)
    link.add_argument("name", metavar="NAME", help="the name of the user")
    link.add_argument("issuer", metavar="ISSUER", help="the name of the issuer in the file of UPVOTE_ISSUERS")
    link.add_argument("subject", metavar="SUBJECT", help="who it is there: the claim that names them, `sub` by default")
    link.set_defaults(action=_link)


def run(arguments: Namespace) -> int:
    session.run(read_settings(), lambda store: arguments.action(store, arguments))
    return 0


async def _link(store: Store, arguments: Namespace) -> None:
    found = issuers_of(read_settings())
    if found is None:
        raise CommandError("there are no issuers: UPVOTE_ISSUERS names no file")
    names = [each.name for each in found.issuers]
    if arguments.issuer not in names:
        raise CommandError(f"there is no issuer {arguments.issuer}; UPVOTE_ISSUERS has {', '.join(names)}")
    if not 0 < len(arguments.subject) <= SUBJECT_LENGTH or not arguments.subject.isprintable():
        raise CommandError(f"a subject has 1 to {SUBJECT_LENGTH} printable characters")
    try:
        name = await store.identities.link(arguments.name, Subject(arguments.issuer, arguments.subject))
    except Refusal as refusal:
        raise CommandError(refusal.message) from refusal
    print(f"{arguments.subject} of {arguments.issuer} is {name}")
