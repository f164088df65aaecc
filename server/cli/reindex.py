"""
The command `reindex`: builds the indexes of the orders of UPVOTE_ORDERS, by which articles are ranked, and drops those
of all others, while servers run.
"""

from argparse import ArgumentParser, Namespace

from server.cli import opened_store
from server.cli.progress import progress_bar
from server.cli.ranking import order_names
from server.settings import read_settings
from store.maintenance import reindex
from store.store import Store


def add_arguments(parser: ArgumentParser) -> None:
    """The command has no arguments."""


def run(arguments: Namespace) -> int:
    settings = read_settings()

    async def rebuild(store: Store) -> None:
        with progress_bar("reindex", await reindex.size(store.site)) as advance:
            await reindex.reindex(store.site, settings.kept_orders, advance)
        print(order_names(store.site.rankings.orders))

    opened_store.run(settings, rebuild)
    return 0
