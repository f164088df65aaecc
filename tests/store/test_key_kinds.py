import inspect

import pytest

from store import key_kinds, keys
from store.ranking.formulas import Policy
from tests.store import scene as scenes

pytestmark = pytest.mark.routed

DIGEST = "0" * 64
NAMES = {
    "number": 1024,
    "name": "show",
    "username": "Alice",
    "digest": DIGEST,
    "link_digest": DIGEST[:32],
    "order": "votes",
    "listing": "group:show:votes",
    "at": 1_470_311_520_000,
    "moves": 7,
}


NEVER_EXPIRING = (
    "group",
    "coming",
    "links",
    "log",
    "logged",
    "replies",
    "inbox",
    "tree",
    "stubs",
    "comments",
    "removing",
    "moving",
)


@pytest.fixture
def policy() -> Policy:
    return Policy(good_votes=2)


@pytest.mark.parametrize("name", key_kinds.KINDS)
def test_key_of_each_kind_is_parsed(store, name):
    kind, partitions = key_kinds.KINDS[name], store.site.partitions
    parameters = list(inspect.signature(kind.build).parameters)[1:]
    texts = [kind.build(p, *(NAMES[parameter] for parameter in parameters)) for p in range(partitions)]
    found = [key for text in texts if (key := key_kinds.parse(text, partitions))]

    assert found and all(key.kind is kind and key.text in texts for key in found)
    assert len(found) in (1, partitions)


def test_pin_of_a_listing_since_an_instant_is_parsed(store):
    for listing in ("votes:since:0", "group:show:time:since:1470311520000"):
        assert key_kinds.parse(keys.pin(0, listing, NAMES["at"]), store.site.partitions)
    for listing in ("votes:since:", "votes:since:01", "since:1", "votes:since:-1"):
        assert key_kinds.parse(keys.pin(0, listing, NAMES["at"]), store.site.partitions) is None


def test_every_function_that_builds_a_key_is_declared():
    functions = [each for _, each in inspect.getmembers(keys, inspect.isfunction) if each.__module__ == keys.__name__]
    others = {"slot", "_slot", "member"}

    assert {each.__name__ for each in functions} - others == {kind.build.__name__ for kind in key_kinds.DECLARED}


async def test_scene_has_keys_of_every_kind(store, redis, clock):
    """Declarations are tested with the keys of the scene, so a new kind has to be added there."""
    scene = await scenes.opened(store, redis, clock)
    await scenes.fill_other_kinds(scene)
    await scenes.fill_kinds_of_operations(scene)
    found = [key_kinds.parse(text, store.site.partitions) for text in redis.scan_iter() if text != keys.store()]

    assert {key.name for key in found} == key_kinds.KINDS.keys()
    assert [key.text for key in found if redis.type(key.text) != key.kind.type] == []
    assert [key.text for key in found if (redis.pttl(key.text) < 0) != (lifetime_of(key) == "-")] == []


def lifetime_of(key: key_kinds.Key) -> str:
    """Keys of these kinds are deleted instead of expiring."""
    return "-" if key.name in NEVER_EXPIRING else key.kind.lifetime


@pytest.mark.parametrize(
    "text",
    [
        "",
        "store:{0}",
        "odd:{0}",
        "article:0:1024",
        "article:{0}",
        "article:{0}:01024",
        "article:{00}:1024",
        "time:{0}:1",
    ],
)
def test_other_text_is_not_a_key(store, text):
    assert key_kinds.parse(text, store.site.partitions) is None


def test_key_in_a_wrong_partition_is_not_a_key(store):
    homes = {p for p in range(16) if key_kinds.parse(keys.user(p, "alice"), store.site.partitions)}

    assert homes == {store.site.home_of_user("alice")}
    assert key_kinds.parse(keys.good_articles(store.site.partitions), store.site.partitions) is None
