"""
Articles that are added to groups and removed from them.

Codes such as G1 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import pytest

from store import keys, listings
from store.errors import Forbidden, Invalid, NotFound
from store.ranking.formulas import Order
from store.records import Vote
from tests.store.reading import article, everything, numbers, page, post


async def test_one_call_adds_to_many_groups_and_removes_from_many(store, alice):  # G1
    number = (await post(store, alice, groups=["ask", "video"])).number
    regrouped = await store.articles.regroup(number, alice, add=["Show", "graphics"], remove=["ask", "video"])

    assert regrouped.groups == ("graphics", "show")
    assert regrouped == await article(store, number)
    for order in Order:
        assert await numbers(store, listings.group(store.site, "show", order)) == [number]
        assert await numbers(store, listings.group(store.site, "ask", order)) == []


async def test_group_that_is_both_added_and_removed_is_removed(store, alice):  # G1
    number = (await post(store, alice)).number

    assert (await store.articles.regroup(number, alice, add=["show"], remove=["show"])).groups == ()


async def test_adding_twice_and_removing_from_another_group_change_nothing(store, alice, redis):  # G2
    number = (await post(store, alice, groups=["show"])).number
    before = everything(redis)

    assert (await store.articles.regroup(number, alice, add=["show", "SHOW"], remove=["ask"])).groups == ("show",)
    assert everything(redis) == before


async def test_eleventh_group_is_refused(store, alice, redis):  # G2
    number = (await post(store, alice, groups=list("abcdefghij"))).number
    before = everything(redis)

    with pytest.raises(Invalid) as refusal:
        await store.articles.regroup(number, alice, add=["k"], remove=[])

    assert refusal.value.field == ("add",)
    assert everything(redis) == before
    assert (await store.articles.regroup(number, alice, add=["k"], remove=["a"])).groups == tuple("bcdefghijk")


async def test_group_has_every_order_of_the_site(store, alice, bob, clock):  # G3
    posted = []
    for poster in (alice, bob, alice, bob):
        posted.append((await post(store, poster, groups=["show"])).number)
        clock.advance(1)
    await store.articles.vote(posted[0], "carol", Vote.UP)
    await store.articles.vote(posted[3], "carol", Vote.DOWN)

    for order in Order:
        site = await page(store, listings.whole(store.site, order))
        assert await page(store, listings.group(store.site, "show", order)) == site


async def test_vote_post_and_regroup_show_in_the_next_read(store, alice, bob):  # G4
    first = (await post(store, alice, groups=["show"])).number
    second = (await post(store, bob, groups=["show"])).number
    group = listings.group(store.site, "show", Order.VOTES)

    await store.articles.vote(first, bob, Vote.UP)
    assert await numbers(store, group) == [first, second]
    await store.articles.vote(second, alice, Vote.UP)
    await store.articles.vote(second, "carol", Vote.UP)
    assert await numbers(store, group) == [second, first]
    await store.articles.regroup(second, bob, add=[], remove=["show"])
    assert await numbers(store, group) == [first]


@pytest.mark.parametrize("name", ["", " ", "-show", "a b", "a:b", "x" * 51, "sh\u00f6w", "show\n", "{0}"])
@pytest.mark.parametrize("argument", ["add", "remove"])
async def test_invalid_group_name_is_refused(store, alice, redis, name, argument):  # G5
    number = (await post(store, alice)).number
    before = everything(redis)

    with pytest.raises(Invalid) as refusal:
        await store.articles.regroup(number, alice, **{"add": [], "remove": [], argument: [name]})

    assert refusal.value.field == (argument,)
    assert everything(redis) == before


async def test_group_named_like_an_order_leaves_the_sites_order_alone(store, alice, bob):  # G5
    first = (await post(store, alice, groups=["score", "time"])).number
    second = (await post(store, bob)).number

    assert set(await numbers(store, listings.whole(store.site, Order.SCORE))) == {first, second}
    assert await numbers(store, listings.group(store.site, "score", Order.TIME)) == [first]


async def test_others_may_not_regroup_edit_or_delete(store, alice, bob, redis):  # G6
    number = (await post(store, alice)).number
    before = everything(redis)

    with pytest.raises(Forbidden):
        await store.articles.regroup(number, bob, add=["show"], remove=[])
    with pytest.raises(Forbidden):
        await store.articles.edit(number, bob, {"title": "mine"})
    with pytest.raises(Forbidden):
        await store.articles.delete(number, bob)

    assert everything(redis) == before


async def test_unknown_article_is_refused(store, alice, redis):
    before = everything(redis)

    with pytest.raises(NotFound):
        await store.articles.regroup(1541, alice, add=["show"], remove=[])
    with pytest.raises(NotFound):
        await store.articles.edit(1541, alice, {"title": "mine"})
    with pytest.raises(NotFound):
        await store.articles.delete(1541, alice)

    assert everything(redis) == before


async def test_only_groups_with_articles_are_listed(store, alice, bob, redis):
    first = (await post(store, alice, groups=["show", "ask"])).number
    second = (await post(store, bob, groups=["show"])).number
    await store.articles.regroup(first, alice, add=[], remove=["ask"])
    await store.articles.delete(second, bob)

    of_posters = {keys.groups(store.site.partition_of_user(poster)) for poster in (alice, bob)}
    assert [name for key in of_posters for name in redis.zrange(key, 0, -1)] == ["show"]
