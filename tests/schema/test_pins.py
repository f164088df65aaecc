"""Pinned pages (issue 8)."""

import asyncio
import random

import pytest

from store import keys
from store.ranking import Order
from store.records import Vote
from tests.store.reading import post

PAGE = """query($order: ArticleOrder, $group: String, $first: Int, $after: String, $last: Int, $before: String,
  $pinned: Boolean = true) {
  articles(order: $order, group: $group, first: $first, after: $after, last: $last, before: $before, pinned: $pinned) {
    nodes { id } totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }"""


async def asked(ask, **variables):
    answer = await ask(PAGE, **variables)
    assert "errors" not in answer
    page = answer["data"]["articles"]
    return [node["id"] for node in page["nodes"]], page["pageInfo"], answer["extensions"]


async def filled(store, *people) -> list[int]:
    return [(await post(store, poster, groups=["show"])).number for poster in people * 10]


@pytest.mark.parametrize("order", [Order.SCORE, Order.GRAVITY])
@pytest.mark.parametrize("group", [None, "show"])
async def test_every_article_is_seen_once_under_a_storm_of_votes(store, ask, alice, bob, clock, order, group):
    numbers = await filled(store, alice, bob)
    chance = random.Random(order.value)
    about = {"order": order.name, "group": group}
    whole, _, _ = await asked(ask, **about, first=100, pinned=False)
    seen, info, _ = await asked(ask, **about, first=3)
    while info["hasNextPage"]:
        storm = [(chance.choice(numbers), f"voter-{chance.randrange(1000)}") for _ in range(20)]
        votes = [store.articles.vote(number, voter, Vote.UP) for number, voter in storm]
        page, *_ = await asyncio.gather(asked(ask, **about, first=3, after=info["endCursor"], pinned=False), *votes)
        clock.advance(30)
        more, info, extensions = page
        seen += more
        assert "expiredPins" not in extensions

    assert seen == whole
    assert (await asked(ask, **about, last=3, before=info["startCursor"]))[0] == whole[-5:-2]
    assert (await asked(ask, **about, first=100))[0] != whole


async def test_deleted_articles_drop_out(store, ask, alice, bob):
    numbers = await filled(store, alice, bob)
    first, info, _ = await asked(ask, order="TIME", first=5)
    await store.articles.delete(numbers[-7], bob)

    rest, _, _ = await asked(ask, order="TIME", first=100, after=info["endCursor"])
    assert f"article:{numbers[-7]}" not in rest
    assert len(set(first + rest)) == 19


async def test_readers_of_the_same_second_share_a_pin(store, ask, alice, bob, clock, redis):
    await filled(store, alice, bob)
    clock.now = 1_470_311_520_000
    await asked(ask, first=5)
    low = (await asked(ask, first=100))[0][-1]
    await store.articles.vote(int(low.split(":")[1]), "vera", Vote.UP)
    clock.advance(0.999)
    same, _, _ = await asked(ask, first=5)
    clock.advance(0.001)
    other, _, _ = await asked(ask, first=5)

    assert (low in same, other[0] == low) == (False, True)
    p = keys.slot("score") % store.site.partitions
    pinned = sorted(redis.scan_iter("pin:*"))
    assert pinned == [keys.pin(p, "score", clock.now - 1000), keys.pin(p, "score", clock.now)]
    assert all(0 < redis.pttl(key) <= 600_000 for key in pinned)


async def test_expired_pin_goes_on_from_the_last_value_and_says_so(store, ask, alice, bob, redis):
    await filled(store, alice, bob)
    for order in ("SCORE", "GRAVITY"):
        whole, _, _ = await asked(ask, order=order, first=100)
        first, info, _ = await asked(ask, order=order, first=5)
        redis.delete(*redis.scan_iter("pin:*"))
        rest, _, extensions = await asked(ask, order=order, first=100, after=info["endCursor"])

        assert first + rest == whole
        assert extensions["expiredPins"] == [order.lower()]


async def test_nothing_to_pin_is_an_empty_page(ask, redis):
    assert (await asked(ask))[0] == []
    assert list(redis.scan_iter("pin:*")) == []
