"""
Building indexes anew while everybody goes on: for other orders, or for other weights of a group.

What is to be built is named first, so that every script that writes from then on writes there too; then the articles
that are there already are written, some at a time; then it takes the place of what was, in one step a partition.
"""

import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from store import actor_scripts, keys
from store.client.commands import Command
from store.errors import RebuildOvertaken
from store.ranking.config import ORDERS_FIELD, PENDING_PREFIX, REINDEX_FIELD, orders_of, orders_to_write, weights_of
from store.ranking.formulas import INDEX_WEIGHTS, ORDERS, Order, Policy
from store.scripts.registry import ACTIVATE_INDEXES, FILL_INDEXES
from store.site import Site

WEIGHED = (Order.SCORE, Order.HOT, Order.BEST)
DROPPED = 500  # keys at once
Walked = Callable[[int], None]


async def size(site: Site, group: str | None = None) -> int:
    """How many articles are walked over. One round trip."""
    return sum(await _in_all(site, lambda p: ("ZCARD", _times(p, group))))


async def reindex(site: Site, orders: Sequence[Order], walked: Walked) -> None:
    """
    Keep these orders and no others.

    An order that is dropped is refused at once, one that is added is there at the end, each in all processes. A reindex
    that ended early is finished by the next.

    Raises:
        RebuildOvertaken: somebody else began another one meanwhile.
    """
    before, after = site.rankings.orders, tuple(order for order in Order if order in orders)
    added = set(orders_to_write(after).split()) - set(orders_to_write(before).split())
    await _allow(site, [order for order in before if order in after])
    known = await _in_all(site, lambda p: ("HGET", keys.ranking(p), ORDERS_FIELD))
    now = {order for text in known for order in (tuple(Order) if text is None else orders_of(text))}
    token = secrets.token_hex(8)
    both = orders_to_write({*now, *after})
    await _in_all(site, lambda p: ("HSET", keys.ranking(p), ORDERS_FIELD, both, REINDEX_FIELD, token))
    if added:
        await _fill(site, "", token, " ".join(added), walked)
    await _allow(site, after)
    await _settle(site, "", token, orders_to_write(after), still="dropping")
    for p in range(site.partitions):
        await _drop(site, p, [order for order in ORDERS if order not in orders_to_write(after).split()])
    await _settle(site, "", token, orders_to_write(after))


async def is_unfinished(site: Site) -> bool:
    """Whether a reindex is under way, or was interrupted. One round trip."""
    return any(await _in_all(site, lambda p: ("HGET", keys.ranking(p), REINDEX_FIELD)))


async def set_weights(site: Site, group: str, changes: Mapping[str, float | None], walked: Walked) -> Policy:
    """
    Give a group weights of its own, or the site's where one is None, and return by what it is ranked from then on.

    Raises:
        RebuildOvertaken: somebody else began to change them meanwhile.
    """
    text = await site.redis.run(("HGET", keys.ranking(0), group))
    before = weights_of(text or "")
    after = {name: value for name, value in {**before, **changes}.items() if value is not None}
    weights = " ".join(f"{name}={value!r}" for name, value in sorted(after.items()))
    building = ""
    if any(before.get(name) != after.get(name) for name in INDEX_WEIGHTS):
        building = f"{weights} token={secrets.token_hex(8)}"
        for p in range(site.partitions):
            await site.redis.run(("UNLINK", *(keys.coming(p, group, order.value) for order in WEIGHED)))
        await _in_all(site, lambda p: ("HSET", keys.ranking(p), PENDING_PREFIX + group, building))
        await _fill(site, group, building, "", walked)
    await _settle(site, group, building, weights)
    await site.rankings.read(site.redis)
    return site.policy_of(group)


async def _allow(site: Site, orders: Sequence[Order]) -> None:
    """Let clients ask for these orders, and tell all processes."""
    await site.redis.run(("HSET", keys.store(), "orders", " ".join(order.value for order in orders)))
    await site.redis.run(("PUBLISH", keys.events(0), "ranked 0 -"))
    await site.rankings.read(site.redis)


async def _drop(site: Site, p: int, orders: Sequence[str]) -> None:
    names = await site.redis.run(("ZRANGE", keys.groups(p), 0, -1))
    unused = [keys.index(p, order) for order in orders]
    unused += [keys.group(p, name, order) for name in names for order in orders]
    for start in range(0, len(unused), DROPPED):
        await site.redis.run(("UNLINK", *unused[start : start + DROPPED]))


async def _in_all(site: Site, command: Callable[[int], Command]) -> list[Any]:
    """The replies of all partitions. One round trip."""
    return await site.redis.pipeline([command(p) for p in range(site.partitions)])


def _times(p: int, group: str | None) -> str:
    return keys.group(p, group, Order.TIME.value) if group else keys.index(p, Order.TIME.value)


async def _fill(site: Site, group: str, building: str, added: str, walked: Walked) -> None:
    for p in range(site.partitions):
        cursor = ""
        while cursor != "0":
            command = actor_scripts.command(site, FILL_INDEXES, p, "", group, building, added, cursor or "0")
            status, *reply = await site.redis.run(command)
            _check(status)
            cursor, count = reply
            walked(count)


async def _settle(site: Site, group: str, building: str, text: str, still: str = "") -> None:
    """`still` says why a rebuild goes on after this."""
    replies = await _in_all(
        site, lambda p: actor_scripts.command(site, ACTIVATE_INDEXES, p, "", group, building, text, still)
    )
    for (status,) in replies:
        _check(status)


def _check(status: str) -> None:
    if status == "stale":
        raise RebuildOvertaken
