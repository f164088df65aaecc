"""The arguments of `ranking`: `show [GROUP]`, and `set GROUP NAME=VALUE ...`."""

import argparse

from server.settings import WrongSetting, read_settings
from store import validation
from store.errors import Invalid
from store.ranking.formulas import WEIGHTS

OF_THE_SITE = "site"


def add_to(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, metavar="show | set")

    show = actions.add_parser("show", help="print what orders are kept, and the weights of the site and its groups")
    show.add_argument("group", nargs="?", type=_group, metavar="GROUP")
    show.set_defaults(run=_show)

    change = actions.add_parser("set", help="give a group weights of its own")
    change.add_argument("group", type=_group, metavar="GROUP")
    change.add_argument(
        "changes",
        nargs="+",
        type=_change,
        metavar="NAME=VALUE",
        help=f"{', '.join(WEIGHTS)}; `{OF_THE_SITE}` as a value takes that of the site again",
    )
    change.set_defaults(run=_set)


def _show(chosen: argparse.Namespace) -> int:
    from server.cli import ranking

    return ranking.show(read_settings(), chosen.group)


def _set(chosen: argparse.Namespace) -> int:
    from server.cli import ranking

    return ranking.set_weights(read_settings(), chosen.group, dict(chosen.changes))


def _group(text: str) -> str:
    try:
        return validation.group(text, "group")
    except Invalid as error:
        raise argparse.ArgumentTypeError(error.message) from error


def _change(text: str) -> tuple[str, float | None]:
    """A weight and its value, which keeps the rules of the setting of the same name."""
    name, _, value = text.partition("=")
    if name not in WEIGHTS:
        raise argparse.ArgumentTypeError(f"{name} is no weight: these are {', '.join(WEIGHTS)}")
    if value == OF_THE_SITE:
        return name, None
    try:
        return name, getattr(read_settings(**{name: value}), name)
    except WrongSetting as error:
        raise argparse.ArgumentTypeError(str(error)) from error
