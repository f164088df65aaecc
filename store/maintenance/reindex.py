"""
Rebuilds indexes while servers go on: for other orders, or for other weights (numbers in the formulas of orders) of a
group. Each partition, a share of the data, has indexes of its own.

1. A field of `ranking:{p}` names what is built. From then on, every script that writes an article writes there too.
2. The articles that exist are written there, some at a time.
3. In one atomic step for each partition, the new indexes replace the old ones.

The field holds a token: a rebuild stops when it finds the token of another one.
"""

import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from store import home_indexes, keys, links, log, recent_comments
from store.client import Command
from store.errors import RebuildOvertaken
from store.home_indexes import SITE_RANKED
from store.maintenance.scan import Progress, known_keys
from store.ranking.config import (
    LINKS_FIELD,
    ORDERS_FIELD,
    PENDING_PREFIX,
    REINDEX_FIELD,
    orders_of,
    orders_to_write,
    weights_of,
)
from store.ranking.formulas import INDEX_WEIGHTS, ORDERS, Order, Policy
from store.scripts.registry import Script
from store.site import Site

ACTIVATE_INDEXES = Script("activate_indexes")
FILL_INDEXES = Script("fill_indexes")
INDEX_LINK = Script("index_link")

WEIGHTED_ORDERS = (Order.SCORE, Order.HOT, Order.BEST)
KEYS_AT_ONCE = 500  # that are removed, in a round trip
WHOLE_SITE = ""  # in place of a group


async def size(site: Site, group: str | None = None) -> int:
    """How much a rebuild reports as progress: the number of articles, twice if links are indexed. One round trip."""
    articles: int = sum(await _in_all(site, lambda partition: ("ZCARD", _articles_by_time(partition, group))))
    return articles if group or site.rankings.has_links else 2 * articles


async def reindex(site: Site, orders: Sequence[Order], progress: Progress) -> None:
    """
    Keep the indexes of these orders, and no others. Build the index of links where an earlier version made the store.

    In all processes, clients can no longer ask for a dropped order at once, and can ask for an added one at the end.
    After an interruption, the next reindex completes the work.

    Raises:
        RebuildOvertaken: another reindex has begun meanwhile.
    """
    before, after = site.rankings.orders, tuple(order for order in Order if order in orders)
    wanted = orders_to_write(after)
    added = set(wanted.split()) - set(orders_to_write(before).split())
    await _offer(site, [order for order in before if order in after])
    token = await _begin(site, after)
    if added:
        await _fill(site, WHOLE_SITE, token, " ".join(added), progress)
    await _offer(site, after)
    await _activate(site, WHOLE_SITE, token, wanted, still="dropping")
    for partition in range(site.partitions):
        await _drop(site, partition, [order for order in ORDERS if order not in wanted.split()])
    await _activate(site, WHOLE_SITE, token, wanted)
    if not site.rankings.has_links:
        await _index_links(site, progress)
    if not site.rankings.has_recent_comments:
        await recent_comments.fill(site)
    if not site.rankings.has_homes:
        await home_indexes.fill(site)


async def is_unfinished(site: Site) -> bool:
    """Whether a reindex is running, or was interrupted. One round trip."""
    return any(await _in_all(site, lambda partition: ("HGET", keys.ranking(partition), REINDEX_FIELD)))


async def set_weights(site: Site, group: str, changes: Mapping[str, float | None], progress: Progress) -> Policy:
    """
    Set weights of a group, and return its policy. None removes a weight of the group: the site's is used again.

    Raises:
        RebuildOvertaken: another change of these weights has begun meanwhile.
    """
    text = await site.redis.run(("HGET", keys.ranking(0), group))
    before = weights_of(text or "")
    after = {name: value for name, value in {**before, **changes}.items() if value is not None}
    weights = " ".join(f"{name}={value!r}" for name, value in sorted(after.items()))
    token = ""
    if any(before.get(name) != after.get(name) for name in INDEX_WEIGHTS):
        token = f"{weights} token={secrets.token_hex(8)}"
        for partition in range(site.partitions):
            unused = [keys.next_group(partition, group, order.value) for order in WEIGHTED_ORDERS]
            if not before:  # else homes read these indexes: see `home_indexes`
                unused += [SITE_RANKED(partition, group, order.value) for order in WEIGHTED_ORDERS]
            await site.redis.run(("UNLINK", *unused))
        await _in_all(site, lambda partition: ("HSET", keys.ranking(partition), PENDING_PREFIX + group, token))
        await _fill(site, group, token, added="", progress=progress)
    await _activate(site, group, token, weights)
    await site.rankings.read(site.redis)
    return site.policy_of(group)


async def _begin(site: Site, orders: Sequence[Order]) -> str:
    """Make scripts write these orders in addition to the current ones, and return the token of this reindex."""
    stored = await _in_all(site, lambda partition: ("HGET", keys.ranking(partition), ORDERS_FIELD))
    written = {order for text in stored for order in (tuple(Order) if text is None else orders_of(text))}
    token, both = secrets.token_hex(8), orders_to_write({*written, *orders})
    await _in_all(site, lambda partition: ("HSET", keys.ranking(partition), ORDERS_FIELD, both, REINDEX_FIELD, token))
    return token


async def _offer(site: Site, orders: Sequence[Order]) -> None:
    """Let clients ask for these orders only, and notify all processes."""
    await site.redis.run(("HSET", keys.store(), "orders", " ".join(order.value for order in orders)))
    await site.redis.run(log.ranked(site))
    await site.rankings.read(site.redis)


async def _index_links(site: Site, progress: Progress) -> None:
    """
    Add all articles to the index of links, which scripts keep from then on. Safe to repeat.

    All keys are walked, as no listing has hidden articles, which are in the index once they are shown again.
    """
    async for found in known_keys(site, lambda count: None):
        articles = [key for key in found if key.kind is keys.article]
        known = await site.redis.pipeline([("HGET", key.text, "link") for key in articles])
        pairs = [(key, link) for key, link in zip(articles, known, strict=True) if link]
        await site.redis.pipeline(
            [site.command(INDEX_LINK, key.partition, key.suffix, link, links.digest(link)) for key, link in pairs]
        )
        progress(len(articles))
    await site.redis.run(("HSET", keys.store(), LINKS_FIELD, links.VERSION))
    await site.redis.run(log.ranked(site))
    await site.rankings.read(site.redis)


async def _drop(site: Site, partition: int, orders: Sequence[str]) -> None:
    names = await site.redis.run(("ZRANGE", keys.groups(partition), 0, -1))
    unused = [keys.index(partition, order) for order in orders]
    unused += [kind(partition, name, order) for kind in (keys.group, SITE_RANKED) for name in names for order in orders]
    for start in range(0, len(unused), KEYS_AT_ONCE):
        await site.redis.run(("UNLINK", *unused[start : start + KEYS_AT_ONCE]))


async def _in_all(site: Site, command: Callable[[int], Command]) -> list[Any]:
    """The replies of all partitions. One round trip."""
    return await site.redis.pipeline([command(partition) for partition in range(site.partitions)])


def _articles_by_time(partition: int, group: str | None) -> str:
    return keys.group(partition, group, Order.TIME.value) if group else keys.index(partition, Order.TIME.value)


async def _fill(site: Site, group: str, token: str, added: str, progress: Progress) -> None:
    """
    Write all articles of the site, or of a group, into the indexes that are built. For the site these are of the
    orders `added`, separated by spaces.
    """
    for partition in range(site.partitions):
        cursor = ""
        while cursor != "0":
            command = site.command(FILL_INDEXES, partition, group, token, added, cursor or "0")
            status, *reply = await site.redis.run(command)
            _check(status)
            cursor, count = reply
            progress(count)


async def _activate(site: Site, group: str, token: str, text: str, still: str = "") -> None:
    """
    Use the indexes that were built; none if `token` is "". `text` is the new value of the field with the orders, or the
    weights of the group.

    The rebuild ends with this unless `still` says what follows.
    """
    replies = await _in_all(
        site, lambda partition: site.command(ACTIVATE_INDEXES, partition, group, token, text, still)
    )
    for (status,) in replies:
        _check(status)


def _check(status: str) -> None:
    if status == "stale":
        raise RebuildOvertaken
