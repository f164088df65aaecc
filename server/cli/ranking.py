"""
The command `ranking`: `show [GROUP]` prints ranking weights, the constants of the formulas that rank articles, and `set
GROUP NAME=VALUE ...` changes those of a group.
"""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence

from archive.mover import renew_listings
from server.cli import opened_store
from server.cli.progress import progress_bar
from server.settings import Settings, WrongSetting, read_settings
from store import validation
from store.errors import Invalid
from store.maintenance import reindex
from store.ranking.formulas import WEIGHTS, Order, Policy
from store.store import Store

SITE = "site"  # what the output calls the site; as the value of a weight, a group takes that of the site again


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, metavar="show | set")

    show = actions.add_parser("show", help="print the orders of the store, and the weights of the site and its groups")
    show.add_argument("group", nargs="?", type=_group, metavar="GROUP")
    show.set_defaults(action=_show)

    change = actions.add_parser("set", help="give a group its own weights")
    change.add_argument("group", type=_group_with_weights, metavar="GROUP")
    change.add_argument(
        "changes",
        nargs="+",
        type=_change,
        metavar="NAME=VALUE",
        help=f"{', '.join(WEIGHTS)}; the value `{SITE}` restores the weight of the site",
    )
    change.set_defaults(action=_set)


def run(arguments: Namespace) -> int:
    settings = read_settings()
    opened_store.run(settings, lambda store: arguments.action(settings, store, arguments), must_exist=False)
    return 0


async def _show(settings: Settings, store: Store, arguments: Namespace) -> None:
    rankings, group = store.site.rankings, arguments.group
    if group is None:
        print(order_names(rankings.orders))
        print(f"{SITE}: " + _text(store.site.policy))
    for name in sorted(rankings.weights) if group is None else [group]:
        print(f"{name}: " + _text(store.site.policy_of(name)))


async def _set(settings: Settings, store: Store, arguments: Namespace) -> None:
    """
    Change a group's weights and rebuild its indexes, while servers run. With an archive (articles that only the
    database has), rebuild its listings too: they are ordered by the same weights.
    """
    group = arguments.group
    with progress_bar(group, await reindex.size(store.site, group)) as advance:
        policy = await reindex.set_weights(store.site, group, dict(arguments.changes), advance)
    async with opened_store.archive_of(settings, store) as database:
        if database:
            await renew_listings(store.site, database)
    print(f"{group}: " + _text(policy))


def order_names(orders: Sequence[Order]) -> str:
    return "orders: " + ", ".join(order.name for order in orders)


def _text(policy: Policy) -> str:
    return " ".join(f"{name}={getattr(policy, name):g}" for name in WEIGHTS)


def _group(text: str) -> str:
    try:
        return validation.group(text, "group")
    except Invalid as error:
        raise ArgumentTypeError(error.message) from error


def _group_with_weights(text: str) -> str:
    """The name of a group that may have its own weights: not `site`, which is the whole site in what is printed."""
    name = _group(text)
    if name == SITE:
        names = ", ".join(f"UPVOTE_{weight.upper()}" for weight in WEIGHTS)
        raise ArgumentTypeError(f"the weights of the site are the settings {names}")
    return name


def _change(text: str) -> tuple[str, float | None]:
    """The name of a weight and its value, checked by the rules of the setting of the same name."""
    name, _, value = text.partition("=")
    if name not in WEIGHTS:
        raise ArgumentTypeError(f"{name} is not a weight; the weights are {', '.join(WEIGHTS)}")
    if value == SITE:
        return name, None
    try:
        return name, getattr(read_settings(**{name: value}), name)
    except WrongSetting as error:
        raise ArgumentTypeError(str(error)) from error
