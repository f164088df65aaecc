"""The commands `reindex` and `ranking`: which orders a store keeps, and the weights of its groups."""

import asyncio
from collections.abc import Mapping, Sequence

from server.app import open_store
from server.cli import session
from server.cli.progress import bar
from server.settings import Settings
from store.maintenance import reindex as rebuilding
from store.ranking.formulas import WEIGHTS, Order, Policy


def reindex(settings: Settings) -> int:
    """Let the store keep the orders of the settings and no others, while servers go on."""
    with session.store_of(settings, joining=True) as opened:
        asyncio.run(_reindex(opened))
    return 0


def show(settings: Settings, group: str | None) -> int:
    """Print the orders that are kept, and the weights of the site and of groups, or of one group."""
    with session.store_of(settings, joining=True) as opened:
        asyncio.run(_show(opened, group))
    return 0


def set_weights(settings: Settings, group: str, changes: Mapping[str, float | None]) -> int:
    """Give a group weights of its own, or the site's again, while servers go on."""
    with session.store_of(settings, joining=True) as opened:
        asyncio.run(_set_weights(opened, group, changes))
    return 0


async def _reindex(settings: Settings) -> None:
    store = await open_store(settings)
    try:
        with bar("reindex", await rebuilding.size(store.site)) as walked:
            await rebuilding.reindex(store.site, settings.kept_orders, walked)
        print(_kept(store.site.rankings.orders))
    finally:
        await store.close()


async def _show(settings: Settings, group: str | None) -> None:
    store = await open_store(settings)
    try:
        rankings = store.site.rankings
        if group is None:
            print(_kept(rankings.orders))
            print("site: " + _text(store.site.policy))
        for name in sorted(rankings.weights) if group is None else [group]:
            print(f"{name}: " + _text(store.site.policy_of(name)))
    finally:
        await store.close()


async def _set_weights(settings: Settings, group: str, changes: Mapping[str, float | None]) -> None:
    store = await open_store(settings)
    try:
        with bar(group, await rebuilding.size(store.site, group)) as walked:
            policy = await rebuilding.set_weights(store.site, group, changes, walked)
        print(f"{group}: " + _text(policy))
    finally:
        await store.close()


def _kept(orders: Sequence[Order]) -> str:
    return "kept: " + ", ".join(order.name for order in orders)


def _text(policy: Policy) -> str:
    return " ".join(f"{name}={getattr(policy, name):g}" for name in WEIGHTS)
