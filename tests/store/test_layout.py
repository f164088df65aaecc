import inspect

import pytest

from store import key_kinds, keys

pytestmark = pytest.mark.routed

DIGEST = "0" * 64
OWN = [function for _, function in inspect.getmembers(keys, inspect.isfunction) if function.__module__ == keys.__name__]
TAGGED = [
    function
    for function in OWN
    if (function.__doc__ or "").count(" | ") == 3 and function not in (keys.store, keys.events)  # has no tag; no key
]
NAMES = {
    "number": 1024,
    "name": "show",
    "username": "Alice",
    "digest": DIGEST,
    "order": "votes",
    "listing": "group:show:votes",
    "at": 1_470_311_520_000,
}


@pytest.mark.parametrize("function", TAGGED)
def test_every_key_is_known_by_its_type(store, function):
    homes = range(store.site.partitions)
    texts = [function(p, *(NAMES[name] for name in list(inspect.signature(function).parameters)[1:])) for p in homes]
    known = [key for text in texts if (key := key_kinds.key(store.site, text))]

    assert known and {key.type for key in known} == {function.__doc__.split(" | ")[0]}
    assert len(known) in (1, len(texts))


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
def test_other_text_is_no_key(store, text):
    assert key_kinds.key(store.site, text) is None


def test_key_in_another_partition_is_none(store):
    homes = {p for p in range(16) if key_kinds.key(store.site, keys.user(p, "alice"))}

    assert homes == {store.site.home_of_user("alice")}
    assert key_kinds.key(store.site, keys.good(store.site.partitions)) is None
