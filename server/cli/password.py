"""The command `password NAME`: prints a link, good once and for an hour, by which a user chooses a new password."""

from argparse import ArgumentParser, Namespace

from server.cli import opened_store
from server.errors import CommandError
from server.settings import Settings, WrongSetting, read_settings
from store.errors import NotFound
from store.one_time_tokens import Purpose, issue
from store.site import Site
from store.store import Store

RESET = "/reset"  # the page; the token follows `#`, so that no server, log or referrer learns it


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the name of the user")


def run(arguments: Namespace) -> int:
    settings = read_settings()
    base = link_base(settings)
    opened_store.run(settings, lambda store: _print_link(store, base, arguments.name))
    return 0


def link_base(settings: Settings) -> str:
    """
    The address that links to reset a password begin with.

    Raises:
        WrongSetting: there is none, or the site has no passwords.
    """
    if not settings.offers.has_passwords:
        raise WrongSetting("UPVOTE_PASSWORDS=off: this site has no passwords of its own")
    if settings.public_url is None:
        raise WrongSetting("UPVOTE_PUBLIC_URL is not set: a link begins with it")
    return settings.public_url


async def link(site: Site, base: str, username: str) -> str:
    """
    A link by which a user chooses a new password. One round trip.

    Raises:
        NotFound: there is no such user.
    """
    return f"{base}{RESET}#{(await issue(site, username, Purpose.RESET)).text}"


async def _print_link(store: Store, base: str, username: str) -> None:
    try:
        print(await link(store.site, base, username))
    except NotFound as missing:
        raise CommandError(missing.message) from missing
