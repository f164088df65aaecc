"""
The command `log`: prints how many entries the log has, one for each change of the store, and how far each consumer has
read it. One consumer fills the database. `log forget NAME` removes a consumer.
"""

from argparse import ArgumentParser, Namespace

from server.cli import opened_store
from server.errors import CommandError
from server.settings import read_settings
from store import log
from store.store import Store


def add_arguments(parser: ArgumentParser) -> None:
    parser.set_defaults(action=_show)
    actions = parser.add_subparsers(metavar="forget")
    forget = actions.add_parser("forget", help="remove a consumer, so that no entries are kept for it")
    forget.add_argument("name", metavar="NAME")
    forget.set_defaults(action=_forget)


def run(arguments: Namespace) -> int:
    # `strict=False`: also a store whose indexes other settings have built
    opened_store.run(read_settings(), lambda store: arguments.action(store, arguments), strict=False)
    return 0


async def _show(store: Store, arguments: Namespace) -> None:
    lengths = await log.lengths(store.site)  # of each partition, a share of the data with a log of its own
    lags = await log.lags(store.site, {})  # of a consumer that has taken no entry: the age of the oldest
    print(f"log       {await log.identity(store.site)}")
    age = f", the oldest {_age(lags)} old" if sum(lengths) else ""
    print(f"entries   {sum(lengths)} in {len(lengths)} partition{'s' * (len(lengths) > 1)}{age}")
    for name, positions in sorted((await log.positions(store.site)).items()):
        print(f"{name}: {await _state(store, positions)}")


async def _state(store: Store, positions: dict[int, str]) -> str:
    """How far a consumer is; `positions` has the id of the last entry that it has taken, by partition."""
    lags, oldest = await log.lags(store.site, positions), await log.oldest(store.site)
    if any(log.sort_key(positions.get(partition, log.START)) < log.sort_key(id) for partition, id in enumerate(oldest)):
        return "entries that it has not taken were removed"
    if not any(lag.entries for lag in lags):
        return "up to date"
    least = "at least " if any(lag.entries == log.MAX_LAG for lag in lags) else ""
    return f"{least}{sum(lag.entries for lag in lags)} entries and {_age(lags)} behind"


def _age(lags: list[log.Lag]) -> str:
    return f"{max(lag.seconds for lag in lags):.1f} s"


async def _forget(store: Store, arguments: Namespace) -> None:
    if not await log.forget(store.site, arguments.name):
        raise CommandError(f"the log has no consumer {arguments.name}")
    print(f"removed {arguments.name}")
