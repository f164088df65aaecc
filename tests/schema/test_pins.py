"""
Pinned pages: the order of a listing does not change while a client reads it. The first page makes a pin, which is a
copy of the order in Redis, and its cursors belong to that pin.

The fixture `token` is a session token of the user vera.
"""

import asyncio
import random

import pytest

from caches import Pool
from engine.documents import Operations
from schema.schema import SCHEMA
from server.limits import document_limits
from server.settings import Settings
from store import keys
from store.ranking import snapshots
from store.ranking.formulas import Order
from store.records import Vote
from tests.store.reading import post

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store

PAGE = """query($order: ArticleOrder, $group: String, $first: Int, $after: String, $last: Int, $before: String,
  $pinned: Boolean = true) {
  articles(order: $order, group: $group, first: $first, after: $after, last: $last, before: $before, pinned: $pinned) {
    nodes { id } totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }"""


async def read_page(ask, token=None, **variables):
    """The ids of the articles of a page, in order, its `pageInfo` and the extensions of the answer."""
    answer = await ask(PAGE, token, **variables)
    assert "errors" not in answer
    page = answer["data"]["articles"]
    return [node["id"] for node in page["nodes"]], page["pageInfo"], answer["extensions"]


async def filled(store, *people) -> dict[int, str]:
    """Ten articles of each of these people, who take turns: the poster by the number, the oldest first."""
    return {(await post(store, poster, groups=["show"])).number: poster for poster in people * 10}


@pytest.mark.parametrize("order", [Order.SCORE, Order.GRAVITY])
@pytest.mark.parametrize("group", [None, "show"])
async def test_pinned_pages_have_every_article_once_under_many_votes(store, ask, alice, bob, clock, order, group):
    numbers = list(await filled(store, alice, bob))
    chance = random.Random(order.value)
    about = {"order": order.name, "group": group}
    whole, _, _ = await read_page(ask, **about, first=100, pinned=False)
    seen, info, _ = await read_page(ask, **about, first=3)
    while info["hasNextPage"]:
        ballots = [(chance.choice(numbers), f"voter-{chance.randrange(1000)}") for _ in range(20)]
        votes = [store.articles.vote(number, voter, Vote.UP) for number, voter in ballots]
        page, *_ = await asyncio.gather(read_page(ask, **about, first=3, after=info["endCursor"], pinned=False), *votes)
        clock.advance(30)
        more, info, extensions = page
        seen += more
        assert "expiredPins" not in extensions

    assert seen == whole
    assert (await read_page(ask, **about, last=3, before=info["startCursor"]))[0] == whole[-5:-2]
    assert (await read_page(ask, **about, first=100))[0] != whole


async def test_pinned_pages_leave_out_deleted_articles(store, ask, alice, bob):
    posters = await filled(store, alice, bob)
    first, info, _ = await read_page(ask, order="TIME", first=5)
    number = list(posters)[-7]  # on the second page
    await store.articles.delete(number, posters[number])

    rest, _, _ = await read_page(ask, order="TIME", first=100, after=info["endCursor"])
    assert f"article:{number}" not in rest
    assert len(set(first + rest)) == 19


async def test_readers_of_the_same_second_share_a_pin(store, ask, alice, bob, clock, redis):
    await filled(store, alice, bob)
    clock.now = 1_470_311_520_000  # the beginning of a second
    await read_page(ask, first=5)
    low = (await read_page(ask, first=100))[0][-1]
    await store.articles.vote(int(low.split(":")[1]), "vera", Vote.UP)
    clock.advance(0.999)
    same, _, _ = await read_page(ask, first=5)
    clock.advance(0.001)
    other, _, _ = await read_page(ask, first=5)

    assert (low in same, other[0] == low) == (False, True)
    partition = keys.slot("score") % store.site.partitions
    pinned = sorted(redis.scan_iter("pin:*"))
    assert pinned == [keys.pin(partition, "score", at) for at in (clock.now - 1000, clock.now)]
    assert all(0 < redis.pttl(key) <= snapshots.LIFETIME for key in pinned)


async def test_expired_pin_continues_from_the_last_position_with_a_note(store, ask, alice, bob, redis):
    await filled(store, alice, bob)
    for order in ("SCORE", "GRAVITY"):
        whole, _, _ = await read_page(ask, order=order, first=100)
        first, info, _ = await read_page(ask, order=order, first=5)
        redis.delete(*redis.scan_iter("pin:*"))
        rest, _, extensions = await read_page(ask, order=order, first=100, after=info["endCursor"])

        assert first + rest == whole
        assert extensions["expiredPins"] == [order.lower()]


async def test_pinned_page_of_an_empty_listing_is_empty(ask, redis):
    assert (await read_page(ask))[0] == []
    assert list(redis.scan_iter("pin:*")) == []


async def test_page_of_deleted_articles_has_cursors_to_continue(store, ask, alice, bob):
    posters = await filled(store, alice, bob)
    numbers = list(posters)[::-1]
    about = {"order": "TIME"}
    _, info, _ = await read_page(ask, **about, first=5)
    for number in numbers[5:10]:
        await store.articles.delete(number, posters[number])

    deleted, info, _ = await read_page(ask, **about, first=5, after=info["endCursor"])
    assert (deleted, info["hasNextPage"], info["hasPreviousPage"]) == ([], True, True)
    rest, _, _ = await read_page(ask, **about, first=100, after=info["endCursor"])
    before, _, _ = await read_page(ask, **about, last=100, before=info["startCursor"])
    assert [rest, before] == [[f"article:{number}" for number in part] for part in (numbers[10:], numbers[:5])]


@pytest.mark.parametrize("order", Order)
async def test_own_post_is_in_a_pin_made_after_it(store, ask, alice, bob, token, redis, order):
    await filled(store, alice, bob)
    about = {"order": order.name, "first": 100}
    shared, _, _ = await read_page(ask, **about)
    assert (await read_page(ask, token, **about))[0] == shared
    for _ in range(2):
        own = (await post(store, "vera")).id
        shown, info, _ = await read_page(ask, token, **about)
        assert own in shown
        assert (await read_page(ask, token, order=order.name, last=100, before=info["endCursor"]))[0] == shown[:-1]

    assert (await read_page(ask, **about))[0] == shared
    assert len(list(redis.scan_iter("pin:*"))) == 3


async def test_pin_is_shared_with_a_user_who_posted_long_ago(store, ask, alice, token, clock, redis):
    await post(store, alice)
    await post(store, "vera")
    clock.advance(60)
    await read_page(ask)
    _, _, extensions = await read_page(ask, token)

    assert len(list(redis.scan_iter("pin:*"))) == 1
    assert extensions["stats"]["roundTrips"] <= 3


def test_cost_of_a_pin_is_a_tenth_of_the_articles_that_it_may_copy():
    operations = Operations(SCHEMA, document_limits(Settings()), Pool(1_000_000))

    def cost(argument: str, **variables: object) -> int:
        declared = "($p: Boolean = true)" if "$" in argument else ""
        text = f"query{declared} {{ articles(first: 1, {argument}) {{ totalCount }} }}"
        return operations.find(text, name=None).cost.points(variables)

    assert cost("pinned: false, page: 1") == cost("pinned: $p", p=False) == 1
    assert cost("pinned: true") == cost("pinned: $p") == cost("pinned: $p", p=True) == 1 + 100  # a tenth of 1,000
    text = '{ article(id: "article:1541") { thread(first: 1%s) { totalCount } } }'
    plain, pinned = (operations.find(text % argument, name=None).cost.points({}) for argument in ("", ", pinned: true"))
    assert pinned == plain + 10  # a pinned thread copies nothing


@pytest.mark.parametrize("partitions", [1], indirect=True)
async def test_number_of_pins_of_a_process_is_limited(store, ask, alice, clock, redis, monkeypatch):
    monkeypatch.setattr(snapshots, "MAX_PINS", 2)
    await post(store, alice)
    notes = []
    for _ in range(4):
        clock.advance(60)
        _, _, extensions = await read_page(ask, first=1)
        notes.append("expiredPins" in extensions)

    assert notes == [False, False, True, True]
    assert len(list(redis.scan_iter("pin:*"))) == 2
    clock.advance(snapshots.LIFETIME / 1000)
    _, _, extensions = await read_page(ask, first=1)
    assert "expiredPins" not in extensions
