"""Made-up articles, written to indexes without posting them."""

import random
from collections.abc import Callable, Sequence

from store import keys
from store.ranking import since
from store.ranking.formulas import DAY, ORDERS
from store.records import Article
from tests.store.histories import YEAR

MINUTE = 60_000  # milliseconds
CROWDS: dict[str, Callable[[random.Random], int]] = {  # each gives the votes of one article
    "two values": lambda chance: chance.choice([1, 1, 1, -5]),
    "similar": lambda chance: round(chance.gauss(110, 8)),
    "similar, below zero": lambda chance: -round(chance.gauss(110, 8)),
    "many votes": lambda chance: chance.randrange(2_000_000, 2_000_300),
    "unlike": lambda chance: int(chance.paretovariate(0.7)) - chance.randrange(4),
}


def made_up(
    chance: random.Random, size: int, votes: Callable[[random.Random], int], *, numbers: str, now: int
) -> list[Article]:
    """
    `size` articles of a year, many of equal times; `chance` makes them random, and `votes` gives the votes of each.
    `numbers` says how they are numbered: by time, some of them "ahead of the clock", or some "of early versions", which
    counted from 1.
    """
    articles = {}
    for each in range(size):
        posted_at = now - YEAR + (each + 1) * (YEAR // size) // MINUTE * MINUTE
        sequence = 2 * posted_at + 2 * (each % 50)  # even ones, from twice the milliseconds on, as the store gives them
        if numbers == "ahead of the clock" and each % 3 == 0:
            sequence += 2 * chance.randrange(90 * DAY * 1000)
        if numbers == "of early versions" and each < 0.7 * size:
            sequence = size - each if each % 5 == 0 else each + size
        number = sequence * keys.SLOTS + chance.randrange(keys.SLOTS)
        up = votes(chance)
        articles[number] = Article(
            number, title="", link=None, content=None, poster="", posted_at=posted_at, edited_at=None,
            upvotes=max(up, 0), downvotes=max(-up, 0), imported_votes=0, groups=(),
        )  # fmt: skip
    return list(articles.values())


async def write(store, articles: Sequence[Article]) -> None:
    """Write articles only to the indexes that a listing since an instant, of the site or of a group, is read from."""
    pairs: dict[str, list[str | float]] = {}  # value, member, value, member and so on, by key
    for article in articles:
        partition = store.site.partition_of_article(article.number)
        for order in since.INDEXES:
            value_and_member = store.site.policy.value(order, article), keys.member(article.number)
            for key in (
                keys.index(partition, order.value),
                *(keys.group(partition, group, order.value) for group in article.groups),
            ):
                pairs.setdefault(key, []).extend(value_and_member)
    assert set(ORDERS) >= {order.value for order in since.INDEXES}
    await store.site.redis.pipeline([("ZADD", key, *flat) for key, flat in pairs.items()])
