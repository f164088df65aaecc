"""
A dump of a store, which is what a backup has, gives the same store when it is restored.

A `scene` is a store that has keys of every kind; it is restored at `place`, another database of Redis, of which
`copied` is a client.

`verified` gives what `upvote verify` finds wrong in the store.

Codes such as A2 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from redis import Redis

from server.cli import backup_file
from store import flags, keys, kinds, listings, log
from store.articles import Draft
from store.errors import StoreMismatch
from store.flags import FlagReason
from store.kinds import Backup
from store.maintenance import dump, reindex
from store.maintenance.import_stories import Story, import_batch
from store.maintenance.records.accounts import UserRecord
from store.maintenance.records.content import ArticleRecord, CommentRecord
from store.maintenance.records.reading import formats, record_of
from store.maintenance.records.record import Record
from store.maintenance.records.settings import ImportedRecord, SequencesRecord
from store.maintenance.restore import Restoration
from store.ranking.formulas import Order, Policy
from store.records import Vote
from store.store import Store
from tests.conftest import Clock, registered
from tests.store import scene as scenes
from tests.store.discussions import commented, thread
from tests.store.held import holding
from tests.store.reading import article, contents, numbers, post, read, upvoters, verified
from tests.store.scene import PEOPLE, WEEK, Scene, meanwhile, use

STORES = Path(__file__).parent / "stores"  # of earlier versions, written by `make_store`

# it restores into another database of the same server
pytestmark = [pytest.mark.one_server, pytest.mark.many_partitions]


@pytest.fixture
def policy() -> Policy:
    return Policy(good_votes=2)


@pytest.fixture
async def scene(store: Store, redis: "Redis", clock: Clock) -> Scene:
    scene = await scenes.opened(store, redis, clock)
    await use(scene, random.Random(11), times=40)
    await scenes.fill_other_kinds(scene)
    return scene


@pytest.fixture
def place(redis_url: str) -> str:
    """The URL of an empty database."""
    return f"{redis_url}?db=1"


@pytest.fixture
def copied(place: str) -> "Iterator[Redis]":
    """A client of the database at `place`."""
    with Redis.from_url(place, decode_responses=True) as redis:
        yield redis


async def dumped(store: Store, *, is_move: bool = False) -> list[Record]:
    """All records of a store; those of a move to another server include sessions. Nothing is skipped as damaged."""
    skipped: list[str] = []
    found = dump.records_of(store.site, progress=lambda count: None, on_skipped=skipped.append, is_move=is_move)
    records = [record async for some in found for record in some]
    assert skipped == []
    return records


async def dumped_without(store: Store, comment: int) -> list[Record]:
    records = await dumped(store)
    return [each for each in records if not (isinstance(each, CommentRecord) and each.number == comment)]


async def begun(place: str, scene: Scene, source: str = "a copy", partitions: int | None = None) -> Restoration:
    """A restoration that has begun. `source` says what is restored, so that only the same one may go on."""
    site = scene.store.site
    return await Restoration.begin(place, source, partitions or site.partitions, site.policy, scene.clock)


async def restored(place: str, scene: Scene, records: list[Record], partitions: int | None = None) -> Store:
    restoration = await begun(place, scene, partitions=partitions)
    await restoration.put(records)
    await restoration.end()
    await restoration.close()
    return await Store.open(place, scene.store.site.policy, clock=scene.clock)


def kept(redis: "Redis") -> dict[str, object]:
    """
    All keys that backups have, and those that are derived from them, without idempotency keys of what was deleted.

    What may differ after a restore is made equal: branch paths of comments, which depend on the order of the changes,
    are left out, and counts that never were above 0, which are not stored, are "0".
    """
    found = {key: value for key, value in contents(redis).items() if backup_of(key) in (Backup.COPIED, Backup.DERIVED)}
    for key, value in found.items():
        kind = key.split(":")[0]
        if kind in ("tree", "stubs"):
            found[key] = {member.split()[1] for member, _ in value}
        if kind == "comment":
            found[key] = {"replies": "0"} | {name: each for name, each in value.items() if name != "path"}
        if kind == "article":
            found[key] = {"comments": "0"} | value
        if kind == "user":
            found[key] = {"comment_karma": "0"} | value
    numbers = {key.split(":")[2] for key in found if key.startswith(("article:", "comment:"))}
    return {
        key: value
        for key, value in found.items()
        if not key.startswith(("posted:", "commented:")) or value.split()[0] in numbers
    }


def backup_of(text: str) -> Backup | None:
    """Whether and how backups have a key, as its kind declares it."""
    kind = kinds.by_name().get(text.split(":")[0])
    return kind.backup if kind else None


def lives(redis: "Redis") -> dict[str, int]:
    """Seconds to live, by key."""
    return {key: redis.ttl(key) for key in kept(redis)}


async def test_user_who_joined_after_a_mention_is_not_notified_by_a_restore(scene, place, copied):
    await scene.store.articles.post(PEOPLE[0], Draft("a title", content="@latecomer"))
    scene.clock.advance(1)
    await registered(scene.store, "latecomer")
    await (await restored(place, scene, await dumped(scene.store))).close()

    assert not copied.exists(keys.inbox(scene.store.site.partition_of_user("latecomer"), "latecomer"))


async def test_restored_store_is_the_same_but_for_sessions_pins_and_limits(scene, place, copied):
    store = await restored(place, scene, await dumped(scene.store))

    assert kept(copied) == kept(scene.redis)
    assert await log.identity(store.site) != await log.identity(scene.store.site)
    assert await log.newest(store.site) == [log.START] * store.site.partitions
    assert lives(copied) == pytest.approx(lives(scene.redis), rel=0, abs=60)
    assert await verified(store) == []
    await store.close()


@pytest.mark.parametrize("is_move", [False, True])
async def test_restored_store_has_the_kinds_that_are_declared_so(scene, place, copied, is_move):
    """The declaration of a kind of keys says whether backups have them, or only moves to another server."""
    store = await restored(place, scene, await dumped(scene.store, is_move=is_move))
    await store.close()

    added = {Backup.COPIED, Backup.DERIVED} | ({Backup.COPIED_BY_MOVE} if is_move else set())
    names = {key.split(":")[0] for key in copied.scan_iter() if key != keys.store()}
    assert names == {name for name, kind in kinds.by_name().items() if kind.backup in added}


async def test_records_are_those_that_are_declared(scene):
    """A dump has records of each name that a kind of keys declares, and of no other."""
    declared = {kind.record for kind in kinds.declared() if kind.record}

    assert {record.kind for record in await dumped(scene.store, is_move=True)} == declared
    assert formats().keys() == declared


async def test_record_is_the_same_after_it_was_in_a_backup(scene):
    records = await dumped(scene.store, is_move=True)

    assert [record_of(json.loads(json.dumps(record.as_list()))) for record in records] == records


@pytest.mark.parametrize("version", ["0.1.0", "61f5b97"])
def test_records_of_an_earlier_backup_are_the_same_bytes(version):
    with backup_file.checked(STORES / version / "backup") as backup:
        found = [parts for frame in backup.records() for parts in frame]

    assert found
    assert [orjson.dumps(record_of(parts).as_list()) for parts in found] == [orjson.dumps(parts) for parts in found]


async def test_orders_and_weights_are_restored(scene, place, copied):
    await reindex.reindex(scene.store.site, [Order.HOT, Order.GRAVITY], progress=lambda count: None)
    await reindex.set_weights(scene.store.site, "show", {"hot_seconds": 9_000.0}, progress=lambda count: None)
    store = await restored(place, scene, await dumped(scene.store))

    assert kept(copied) == kept(scene.redis)
    assert store.site.rankings == scene.store.site.rankings
    assert await verified(store) == []
    await store.close()


@pytest.mark.parametrize("count", [2, 64])
async def test_other_number_of_partitions_changes_neither_ids_nor_orders(scene, place, copied, count):
    store = await restored(place, scene, await dumped(scene.store), partitions=count)

    assert await verified(store) == []
    for order in Order:
        there = [await numbers(each, listings.whole(each.site, order)) for each in (scene.store, store)]
        assert there[0] == there[1] != []
    await store.close()


@pytest.mark.parametrize("count", [1, 64])
async def test_numbers_of_deleted_articles_are_not_given_out_again(scene, place, count):  # A2
    given = set()
    for poster in PEOPLE:
        article = await post(scene.store, poster)
        given.add(article.number)
        await scene.store.articles.delete(article.number, poster)
    store = await restored(place, scene, await dumped(scene.store), partitions=count)

    assert all([(await post(store, poster)).number not in given for poster in PEOPLE])
    await store.close()


async def test_numbers_of_early_versions_are_kept_and_new_ones_are_higher(scene, place):  # A2
    fields = {"title": "a title", "poster": "Alice", "time": "1470000000000", "up": "1", "down": "0", "groups": ""}
    old = [sequence * keys.SLOTS + keys.slot("alice") for sequence in (1, 2)]
    records: list[Record] = [
        ImportedRecord({"7": str(old[0])}),
        *(ArticleRecord(number, fields, [], []) for number in old),
        UserRecord({"name": "Alice", "joined": "1470000000000", "karma": "0"}),
        SequencesRecord([3]),
    ]
    store = await restored(place, scene, records)

    new = await post(store, "Alice")
    assert await numbers(store, listings.whole(store.site, Order.TIME)) == [new.number, *old[::-1]]
    assert await verified(store) == []
    await store.close()


async def test_numbers_of_deleted_imported_stories_are_not_given_out_again(scene, place):  # A2
    stories = [Story(str(id), "a story", link="", poster="bob", time=1_400_000_000_000, votes=1) for id in range(20)]
    await import_batch(scene.store, stories)
    given = await numbers(scene.store, listings.timeline(scene.store.site, "bob"))
    for number in given:
        await scene.store.articles.delete(number, "bob")
    store = await restored(place, scene, await dumped(scene.store))

    await import_batch(store, [Story("another", "a story", link="", poster="bob", time=1_400_000_000_000, votes=1)])
    assert (await numbers(store, listings.timeline(store.site, "bob")))[-1] not in given
    await store.close()


async def test_idempotency_key_is_restored(scene, place):  # A7
    draft = Draft("sent twice", "https://example.com/")
    first = (await scene.store.articles.post("bob", draft, "bob's key")).article
    store = await restored(place, scene, await dumped(scene.store))

    again = await store.articles.post("bob", draft, "bob's key")
    assert again.replayed
    assert again.article == first
    await store.close()


async def test_post_that_is_missing_in_the_dump_can_be_sent_again(scene, place):
    draft = Draft("too late", "https://example.com/")
    records = await dumped(scene.store)
    late = (await scene.store.articles.post("bob", draft, "bob's key")).article
    keys_of_posts = [record for record in await dumped(scene.store) if record.kind == "posted"]
    store = await restored(place, scene, [*records, *keys_of_posts])

    assert await article(store, late.number) is None
    assert not (await store.articles.post("bob", draft, "bob's key")).replayed
    await store.close()


@pytest.mark.parametrize("count", [1, 4])
async def test_visible_comments_below_several_deleted_ones_are_restored(scene, place, count):  # C6
    posted, chain = await post(scene.store, "bob"), []
    for _ in range(5):
        chain.append(await commented(scene.store, posted.number, "bob", chain[-1] if chain else None))
    for each in (*chain[:2], chain[3]):
        await scene.store.comments.delete(each.number, "bob")
    store = await restored(place, scene, await dumped(scene.store), partitions=count)

    page = await thread(store, posted.number)
    assert [place.number for place in page.places] == [each.number for each in chain]
    assert await verified(store) == []
    await store.close()


async def test_deleted_comments_whose_replies_are_missing_in_the_dump_are_removed(scene, place, copied):  # C6
    """Replies may be deleted while a dump is made, after what they answer was read."""
    posted, chain = await post(scene.store, "bob"), []
    for _ in range(4):
        chain.append(await commented(scene.store, posted.number, "bob", chain[-1] if chain else None))
    for each in chain[:-1]:
        await scene.store.comments.delete(each.number, "bob")
    last = chain[-1].number
    store = await restored(place, scene, await dumped_without(scene.store, last))

    assert not [key for key in copied.scan_iter(f"*:{posted.number}*") if key.split(":")[0] in ("tree", "stubs")]
    assert not [each for each in chain if list(copied.scan_iter(f"comment:*:{each.number}"))]
    assert await verified(store) == []
    await store.close()


async def test_voters_are_dropped_if_voting_closed_since_the_dump(scene, place, copied):  # V6
    records = await dumped(scene.store)
    assert scene.redis.exists(scene.voted)
    scene.clock.advance(WEEK + 1)
    store = await restored(place, scene, records)

    assert not copied.exists(scene.voted, scene.downvoted)
    assert (await article(store, scene.open.number)).votes == (await article(scene.store, scene.open.number)).votes
    assert await verified(store) == []
    await store.close()


async def test_dump_of_a_store_in_use_is_consistent_and_has_all_earlier_writes(scene, place, copied):
    copies: list[list[Record]] = []
    before = {(await post(scene.store, "Alice")).number for _ in range(30)}
    for number in before:
        await scene.store.articles.vote(number, "a-voter", Vote.UP)

    async def copy() -> None:
        copies.append(await dumped(scene.store))

    await meanwhile(scene, copy, times=2)
    deleted = {number for number in before if await article(scene.store, number) is None}
    store = await restored(place, scene, copies[0])
    assert await verified(store) == []
    for number in before - deleted:
        assert "a-voter" in upvoters(copied, store, number)
    await store.close()


async def test_restore_into_a_database_that_is_not_empty_is_refused(scene, place, copied):
    copied.set("a key", "a value")

    with pytest.raises(StoreMismatch, match="not empty: it has 1 keys"):
        await begun(place, scene)
    assert contents(copied) == {"a key": "a value"}


async def test_restore_into_a_store_that_a_server_has_opened_is_refused(scene, place):
    await (await Store.open(place)).close()

    with pytest.raises(StoreMismatch, match="not empty"):
        await begun(place, scene)


async def test_store_cannot_be_opened_until_an_interrupted_restore_is_repeated(scene, place, copied):
    records = await dumped(scene.store)
    first = await begun(place, scene)
    await first.put(records[: len(records) // 2])
    await first.close()

    with pytest.raises(StoreMismatch, match="has not finished"):
        await Store.open(place, scene.store.site.policy, strict=False)
    with pytest.raises(StoreMismatch, match="another restore"):
        await begun(place, scene, "another copy")
    store = await restored(place, scene, records)
    assert kept(copied) == kept(scene.redis)
    assert await verified(store) == []
    await store.close()


async def test_interrupted_restore_is_not_repeated_into_other_partitions(scene, place, copied):
    interrupted = await begun(place, scene, partitions=4)
    await interrupted.put(await dumped(scene.store))
    await interrupted.close()
    before = contents(copied)

    with pytest.raises(StoreMismatch, match="another number of partitions"):
        await begun(place, scene, partitions=2)
    assert contents(copied) == before


async def test_restore_that_another_process_has_completed_writes_no_more(scene, place, copied):
    records = await dumped(scene.store)
    slower = await begun(place, scene)
    await slower.put(records[: len(records) // 2])
    store = await restored(place, scene, records)
    await store.articles.delete(scene.open.number, "Alice")
    before = contents(copied)

    with pytest.raises(StoreMismatch, match="another process has completed this restore"):
        await slower.put(records)
    assert contents(copied) == before
    await slower.close()
    await store.close()


async def test_damaged_article_is_skipped_and_reported(scene, place):
    scene.redis.hdel(scene.hash, "time")
    skipped: list[str] = []
    records = [
        record
        async for some in dump.records_of(scene.store.site, progress=print, on_skipped=skipped.append)
        for record in some
    ]
    store = await restored(place, scene, records)

    assert skipped == [scene.hash]
    assert await verified(store) == []
    await store.close()


async def test_malformed_values_are_skipped_and_reported(scene, place):
    """The other values of the same keys are copied."""
    posted = next(key for key in scene.redis.scan_iter("posted:*") if "alice" in key)
    scene.redis.set(posted, "odd", keepttl=True)
    scene.redis.hset(scene.hash, "edited", "today")
    scene.redis.hset(scene.account, "seen", "odd")
    scene.redis.hset(keys.imported(scene.partition), "2", "odd")
    scene.redis.set(keys.sequence(scene.partition), "odd")
    skipped: list[str] = []
    records = [
        record
        async for some in dump.records_of(scene.store.site, progress=print, on_skipped=skipped.append)
        for record in some
    ]
    store = await restored(place, scene, records)

    expected = [posted, f"{scene.hash} edited", f"{scene.account} seen", f"{keys.imported(scene.partition)} 2"]
    assert sorted(skipped) == sorted([*expected, keys.sequence(scene.partition)])
    assert await article(store, scene.open.number)
    assert [each.where for each in await verified(store)] == [keys.sequence(scene.partition)]
    await store.close()


async def test_dump_has_the_reason_why_a_text_is_held(store, alice):
    article = (await store.articles.post(alice, Draft("a title", content="a text"))).article
    with holding(store, "it names a shop"):
        await store.articles.post(alice, Draft("another", content="a text"))
        await store.comments.post(article.number, parent=None, poster=alice, content="an answer")
        await store.articles.edit(article.number, alice, {"title": "a better title"})

    assert str(await dumped(store)).count("'check it names a shop'") == 3


async def test_flag_with_a_note_of_several_lines_is_restored(scene, place):  # M5
    site, number = scene.store.site, scene.open.number
    await flags.flag(site, "bob", "article", number, FlagReason.SPAM, "it sells shoes\nin each comment")
    store = await restored(place, scene, await dumped(scene.store))

    assert await read(store, flags.standing(store.site, number)) == await read(
        scene.store, flags.standing(site, number)
    )
    await store.close()


async def test_progress_adds_up_to_the_size(scene):
    progress: list[int] = []
    async for _ in dump.records_of(scene.store.site, progress=progress.append, on_skipped=print):
        pass

    assert sum(progress) == await dump.size(scene.store.site)
