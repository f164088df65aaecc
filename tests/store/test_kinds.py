"""
Kinds of keys, such as `article` or `user`. Each is declared with the parts that follow the partition in a key, its type
in Redis and its lifetime. Keys are made by these declarations, and parsed again.

A store is split into partitions by user: the partition of a user has all that the user owns.
"""

import pytest

from store import (
    annulments,
    flags,
    identities,
    kept_answers,
    key_sets,
    keys,
    kinds,
    leases,
    links,
    listings,
    mailboxes,
    mails,
    recent_comments,
    threads,
)
from store.ranking.formulas import Policy
from tests.store import scene as scenes

pytestmark = pytest.mark.many_partitions

DIGEST = "0" * 64
AT = 1_470_311_520_000  # unix milliseconds
# a value of each part that keys may have
EXAMPLES: dict[kinds.Text, int | str] = {
    keys.NUMBER: 1024,
    kept_answers.CALL: DIGEST[:18],
    keys.USERNAME: "Alice",
    keys.OWNER: "Alice",
    keys.GROUP: "show",
    keys.SCOPE: "group:show",
    keys.ROLE_SCOPE: "site",
    keys.PLACE: "show",
    flags.QUEUE_NAME: "flagged",
    flags.QUEUE_SCOPE: "group:show",
    keys.DIGEST: DIGEST,
    links.LINK_DIGEST: DIGEST[:32],
    keys.ORDER: "votes",
    threads.REPLY_ORDER: "votes",
    threads.PINNED_ORDER: "votes",
    keys.LISTING: "group:show:votes",
    keys.TIME: AT,
    threads.MOVES: 7,
    leases.NAME: "archiver",
    identities.IDENTITY: DIGEST,
    key_sets.NAME: "site",
    annulments.CASE: 1541,
    recent_comments.PLACE_NAME: "group:show",
    mailboxes.ADDRESS_DIGEST: DIGEST[:40],
    mails.SUBJECT: "Alice",
    mails.WHAT: "reset",
}


NEVER_EXPIRING = (  # kinds with a lifetime whose keys are deleted instead of expiring
    "hidden",
    "left",
    "woken",
    "blocked",
    "siteranked",
    "unblocked",
    "group",
    "coming",
    "links",
    "log",
    "logged",
    "replies",
    "inbox",
    "unlisted",
    "heldcomments",
    "tree",
    "latest",
    "deleted",
    "stubs",
    "held",
    "comments",
    "removing",
    "cleaning",
    "annulled",
    "cases",
    "annulling",
    "recounted",
    "moving",
    "leaving",
    "outdated",
    "refused",
    "moderators",
    "flags",
    "heldedit",
    "queue",
    "addressed",
    "mailing",
    "mail",
    "saved",
    "recent",
    "floors",
    "relisting",
)


@pytest.fixture
def policy() -> Policy:
    return Policy(good_votes=2)


@pytest.mark.parametrize("name", kinds.by_name())
def test_key_of_each_kind_is_parsed(store, name):
    kind, partitions = kinds.by_name()[name], store.site.partitions
    texts = [kind(partition, *(EXAMPLES[part] for part in kind.parts)) for partition in range(partitions)]
    found = [key for text in texts if (key := kinds.parse(text, partitions))]

    assert found and all(key.kind is kind and key.text in texts for key in found)
    assert len(found) in (1, partitions)


def test_pin_of_a_listing_since_an_instant_is_parsed(store):
    for listing in ("votes:since:0", "group:show:time:since:1470311520000"):
        assert kinds.parse(keys.pin(0, listing, AT), store.site.partitions)
    for listing in ("votes:since:", "votes:since:01", "since:1", "votes:since:-1"):
        assert kinds.parse(keys.pin(0, listing, AT), store.site.partitions) is None


async def test_scene_has_keys_of_every_kind(store, redis, clock):
    """The scene is a store that many tests use, also those of declarations: a new kind has to be added there."""
    scene = await scenes.opened(store, redis, clock)
    await scenes.fill_other_kinds(scene)
    await scenes.fill_kinds_of_operations(scene)
    found = [kinds.parse(text, store.site.partitions) for text in redis.scan_iter() if text != keys.store()]

    assert {key.name for key in found} == kinds.by_name().keys()
    assert [key.text for key in found if redis.type(key.text) != key.kind.type] == []
    assert [key.text for key in found if (redis.pttl(key.text) < 0) != (lifetime_of(key) == "-")] == []


def lifetime_of(key: kinds.Key) -> str:
    """How long a key is kept: `-` if it does not expire."""
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
    assert kinds.parse(text, store.site.partitions) is None


def test_key_in_a_wrong_partition_is_not_a_key(store):
    partitions = {
        partition for partition in range(16) if kinds.parse(keys.user(partition, "alice"), store.site.partitions)
    }

    assert partitions == {store.site.partition_of_user("alice")}
    assert kinds.parse(listings.GOOD_ARTICLES(store.site.partitions), store.site.partitions) is None
