"""
The command `user`: `create NAME` makes an account without a password, `invite` prints a link to register, and
`link NAME ISSUER SUBJECT` lets somebody who logs in at an issuer, a service outside, be an existing user here.
"""

import sys
from argparse import ArgumentParser, Namespace

from server.cli import opened_store, password
from server.configured import issuers_of
from server.errors import CommandError
from server.settings import Settings, WrongSetting, read_settings
from store import invitations
from store.errors import Refusal, UsernameTaken
from store.identities import SUBJECT_LENGTH, Subject
from store.offers import Registration
from store.store import Store

REGISTER = "/register"


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, metavar="create | invite | link")

    summary = "make an account without a password, also with a reserved name, and print a link to choose one"
    create = actions.add_parser("create", help=summary, description=summary)
    create.add_argument("name", metavar="NAME")
    create.set_defaults(action=_create)

    summary = "print a link by which one person may register; it is good once, for a week"
    invite = actions.add_parser("invite", help=summary, description=summary)
    invite.set_defaults(action=_invite)

    summary = "let the tokens of somebody at an issuer be those of an existing user"
    link = actions.add_parser("link", help=summary, description=summary)
    link.add_argument("name", metavar="NAME", help="the name of the user")
    link.add_argument("issuer", metavar="ISSUER", help="the name of the issuer in the file of UPVOTE_ISSUERS")
    link.add_argument("subject", metavar="SUBJECT", help="who it is there: the claim that names them, `sub` by default")
    link.set_defaults(action=_link)


def run(arguments: Namespace) -> int:
    settings = read_settings()
    opened_store.run(settings, lambda store: arguments.action(store, settings, arguments), must_exist=False)
    return 0


async def _create(store: Store, settings: Settings, arguments: Namespace) -> None:
    try:
        if not await store.users.create(arguments.name):
            raise UsernameTaken(arguments.name)
    except Refusal as refusal:
        raise CommandError(refusal.message) from refusal
    try:
        base = password.link_base(settings)
    except WrongSetting as missing:
        print(f"{arguments.name} has no link to choose a password: {missing}", file=sys.stderr)
    else:
        print(await password.link(store.site, base, arguments.name))


async def _invite(store: Store, settings: Settings, arguments: Namespace) -> None:
    if settings.offers.registration is Registration.CLOSED:
        raise WrongSetting("UPVOTE_REGISTRATION=closed: nobody can register")
    base = password.link_base(settings)
    print(f"{base}{REGISTER}#{(await invitations.create(store.site)).text}")


async def _link(store: Store, settings: Settings, arguments: Namespace) -> None:
    found = issuers_of(settings)
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
