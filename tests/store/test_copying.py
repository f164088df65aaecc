import random
from collections.abc import Iterator

import pytest
from redis import Redis

from store import keys, listings
from store.articles import Draft
from store.errors import StoreMismatch
from store.maintenance import dump, reindex
from store.maintenance.import_stories import Story, bring_in
from store.maintenance.restore import Restoration
from store.ranking.formulas import Order, Policy
from store.records import Vote
from store.store import Store
from tests.conftest import Clock
from tests.store import scene as scenes
from tests.store.reading import article, contents, numbers, post, up, verified
from tests.store.scene import PEOPLE, WEEK, Scene, meanwhile, use

pytestmark = [pytest.mark.one_server, pytest.mark.routed]  # the copy is another database of the server

LEFT_BEHIND = ("session", "sessions", "pin", "tried", "bucket", "mark", "store")


@pytest.fixture
def policy() -> Policy:
    return Policy(good_votes=2)


@pytest.fixture
async def scene(store: Store, redis: "Redis", clock: Clock) -> Scene:
    scene = await scenes.opened(store, redis, clock)
    await use(scene, random.Random(7), 40)
    return scene


@pytest.fixture
def place(redis_url: str) -> str:
    """An empty store."""
    return f"{redis_url}?db=1"


@pytest.fixture
def copied(place: str) -> "Iterator[Redis]":
    """What is in it."""
    with Redis.from_url(place, decode_responses=True) as redis:
        yield redis


async def copy_of(store: Store) -> list[dump.Record]:
    left_out: list[str] = []
    copied = [record async for some in dump.copied(store.site, lambda count: None, left_out.append) for record in some]
    assert left_out == []
    return copied


async def begun(place: str, scene: Scene, source: str = "a copy", partitions: int | None = None) -> Restoration:
    site = scene.store.site
    return await Restoration.begin(place, source, partitions or site.partitions, site.policy, scene.clock)


async def restored(place: str, scene: Scene, records: list[dump.Record], partitions: int | None = None) -> Store:
    restoration = await begun(place, scene, partitions=partitions)
    await restoration.put(records)
    await restoration.end()
    await restoration.close()
    return await Store.open(place, scene.store.site.policy, clock=scene.clock)


def kept(redis: "Redis") -> dict[str, object]:
    """All that a copy has, or derives."""
    return {key: value for key, value in contents(redis).items() if key.split(":")[0] not in LEFT_BEHIND}


def lives(redis: "Redis") -> dict[str, int]:
    """How long keys live, in seconds."""
    return {key: redis.ttl(key) for key in kept(redis)}


async def test_copy_has_everything_but_sessions_and_limits(scene, place, copied):
    store = await restored(place, scene, await copy_of(scene.store))

    assert kept(copied) == kept(scene.redis)
    assert lives(copied) == pytest.approx(lives(scene.redis), rel=0, abs=60)
    assert await verified(store) == []
    await store.close()


async def test_copy_keeps_the_same_orders_and_weights(scene, place, copied):
    await reindex.reindex(scene.store.site, [Order.HOT, Order.GRAVITY], lambda count: None)
    await reindex.set_weights(scene.store.site, "show", {"hot_seconds": 9_000.0}, lambda count: None)
    store = await restored(place, scene, await copy_of(scene.store))

    assert kept(copied) == kept(scene.redis)
    assert store.site.rankings == scene.store.site.rankings
    assert await verified(store) == []
    await store.close()


@pytest.mark.parametrize("wanted", [2, 64])
async def test_other_number_of_partitions_changes_no_id_and_no_order(scene, place, copied, wanted):
    store = await restored(place, scene, await copy_of(scene.store), wanted)

    assert await verified(store) == []
    for order in Order:
        there = [await numbers(each, listings.whole(each.site, order)) for each in (scene.store, store)]
        assert there[0] == there[1] != []
    await store.close()


@pytest.mark.parametrize("wanted", [1, 64])
async def test_numbers_of_deleted_articles_are_not_given_out_again(scene, place, wanted):  # A2
    given = set()
    for poster in PEOPLE:
        article = await post(scene.store, poster)
        given.add(article.number)
        await scene.store.articles.delete(article.number, poster)
    store = await restored(place, scene, await copy_of(scene.store), wanted)

    assert all([(await post(store, poster)).number not in given for poster in PEOPLE])
    await store.close()


async def test_copy_of_a_version_before_keeps_its_numbers_and_goes_on_with_later_ones(scene, place):  # A2
    fields = {"title": "a title", "poster": "Alice", "time": "1470000000000", "up": "1", "down": "0", "groups": ""}
    old = [sequence * keys.SLOTS + keys.slot("alice") for sequence in (1, 2)]
    records: list[dump.Record] = [
        ["imported", {"7": str(old[0])}],
        *(["article", number, fields, [], []] for number in old),
        ["user", {"name": "Alice", "joined": "1470000000000", "karma": "0"}],
        ["sequences", [3]],
    ]
    store = await restored(place, scene, records)

    new = await post(store, "Alice")
    assert await numbers(store, listings.whole(store.site, Order.TIME)) == [new.number, *old[::-1]]
    assert await verified(store) == []
    await store.close()


async def test_stories_of_a_copy_keep_their_numbers(scene, place):  # A2
    stories = [Story(str(id), "a story", "", "bob", 1_400_000_000_000, 1) for id in range(20)]
    await bring_in(scene.store, stories)
    given = await numbers(scene.store, listings.timeline(scene.store.site, "bob"))
    for number in given:
        await scene.store.articles.delete(number, "bob")
    store = await restored(place, scene, await copy_of(scene.store))

    await bring_in(store, [Story("another", "a story", "", "bob", 1_400_000_000_000, 1)])
    assert (await numbers(store, listings.timeline(store.site, "bob")))[-1] not in given
    await store.close()


async def test_post_that_was_sent_before_is_replayed_in_the_copy(scene, place):  # A7
    draft = Draft("sent twice", "https://example.com/", "", ())
    first = (await scene.store.articles.post("bob", draft, "bob's key")).article
    store = await restored(place, scene, await copy_of(scene.store))

    again = await store.articles.post("bob", draft, "bob's key")
    assert again.replayed
    assert again.article == first
    await store.close()


async def test_post_that_came_too_late_for_the_copy_can_be_sent_again(scene, place):
    draft = Draft("too late", "https://example.com/", "", ())
    records = await copy_of(scene.store)
    late = (await scene.store.articles.post("bob", draft, "bob's key")).article
    keys_of_posts = [record for record in await copy_of(scene.store) if record[0] == "posted"]
    store = await restored(place, scene, [*records, *keys_of_posts])

    assert await article(store, late.number) is None
    assert not (await store.articles.post("bob", draft, "bob's key")).replayed
    await store.close()


async def test_voters_of_an_article_that_closed_since_are_forgotten(scene, place, copied):  # V6
    records = await copy_of(scene.store)
    assert scene.redis.exists(scene.voted)
    scene.clock.advance(WEEK + 1)
    store = await restored(place, scene, records)

    assert not copied.exists(scene.voted, scene.downvoted)
    assert (await article(store, scene.open.number)).votes == (await article(scene.store, scene.open.number)).votes
    assert await verified(store) == []
    await store.close()


async def test_copy_of_a_store_in_use_is_whole_and_has_what_was_done_before(scene, place, copied):
    copies: list[list[dump.Record]] = []
    numbered = [post(scene.store, "Alice") for _ in range(30)]
    before = {(await each).number for each in numbered}
    for number in before:
        await scene.store.articles.vote(number, "a-voter", Vote.UP)

    async def copy() -> None:
        copies.append(await copy_of(scene.store))

    await meanwhile(scene, copy, times=2)
    deleted = {number for number in before if await article(scene.store, number) is None}
    store = await restored(place, scene, copies[0])
    assert await verified(store) == []
    for number in before - deleted:
        assert "a-voter" in up(copied, store, number)
    await store.close()


async def test_store_that_is_not_empty_is_left_alone(scene, place, copied):
    copied.set("a key", "a value")

    with pytest.raises(StoreMismatch, match="not empty: it has 1 keys"):
        await begun(place, scene)
    assert contents(copied) == {"a key": "a value"}


async def test_store_that_a_server_has_opened_is_not_empty(scene, place):
    await (await Store.open(place)).close()

    with pytest.raises(StoreMismatch, match="not empty"):
        await begun(place, scene)


async def test_interrupted_restore_is_no_store_until_it_went_on(scene, place, copied):
    records = await copy_of(scene.store)
    first = await begun(place, scene)
    await first.put(records[: len(records) // 2])
    await first.close()

    with pytest.raises(StoreMismatch, match="not whole"):
        await Store.open(place, scene.store.site.policy, strict=False)
    with pytest.raises(StoreMismatch, match="another restore"):
        await begun(place, scene, "another copy")
    store = await restored(place, scene, records)
    assert kept(copied) == kept(scene.redis)
    assert await verified(store) == []
    await store.close()


async def test_what_is_broken_is_left_out_and_told(scene, place):
    scene.redis.hdel(scene.hash, "time")
    told: list[str] = []
    records = [record async for some in dump.copied(scene.store.site, print, told.append) for record in some]
    store = await restored(place, scene, records)

    assert told == [scene.hash]
    assert await verified(store) == []
    await store.close()


async def test_malformed_values_are_left_out_and_told(scene, place):
    """What stands beside them is copied."""
    posted = next(key for key in scene.redis.scan_iter("posted:*") if "alice" in key)
    scene.redis.set(posted, "odd", keepttl=True)
    scene.redis.hset(scene.hash, "edited", "today")
    scene.redis.hset(scene.account, "seen", "odd")
    scene.redis.hset(keys.imported(scene.p), "2", "odd")
    scene.redis.set(keys.sequence(scene.p), "odd")
    told: list[str] = []
    records = [record async for some in dump.copied(scene.store.site, print, told.append) for record in some]
    store = await restored(place, scene, records)

    expected = [posted, f"{scene.hash} edited", f"{scene.account} seen", f"{keys.imported(scene.p)} 2"]
    assert sorted(told) == sorted([*expected, keys.sequence(scene.p)])
    assert await article(store, scene.open.number)
    assert [each.where for each in await verified(store)] == [keys.sequence(scene.p)]
    await store.close()


async def test_what_is_walked_is_told(scene):
    walked: list[int] = []
    async for _ in dump.copied(scene.store.site, walked.append, print):
        pass

    assert sum(walked) == await dump.size(scene.store.site)
