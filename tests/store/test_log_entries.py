"""
The entries that each write appends to the log, a stream of its partition that has an entry for each change, and what
they must not contain. An entry has a kind, who did it (the actor), what it is about (the subject), and values.

Codes such as D1 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import random
from collections import Counter

import pytest

from store import idempotency, keys, links, log, server_keys
from store.articles import Draft
from store.errors import BadCredentials, Refusal, StoreUnavailable
from store.log import Entry
from store.maintenance import reindex, verify
from store.maintenance.import_stories import Story, create_voters, follow, import_batch
from store.maintenance.records.content import ArticleRecord
from store.maintenance.records.settings import ImportedRecord
from store.maintenance.write_lock import WriteLock
from store.ranking.formulas import Order, Policy
from store.records import Position, Vote
from store.sessions import parse_token
from store.store import Store
from tests.conftest import registered
from tests.store import scene as scenes
from tests.store.reading import post
from tests.store.replaying import Replay, entries, records, stored

pytestmark = pytest.mark.many_partitions


PASSWORDS = ("correct horse battery", "another staple")


class LogReader:
    """A call returns the entries that were appended since the last one: kind, actor, subject and values of each."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._read = {partition: log.START for partition in range(store.site.partitions)}

    async def __call__(self) -> list[tuple[str, str, str, dict[str, str]]]:
        found: list[Entry] = []
        for partition, after in self._read.items():
            some = await log.read(self._store.site, partition, after, 1_000)
            found += some
            self._read[partition] = some[-1].id if some else after
        assert {entry.at for entry in found} <= {self._store.site.clock()}
        return [(entry.kind, entry.actor, entry.subject, entry.values) for entry in found]


@pytest.fixture
def policy() -> Policy:
    return Policy(good_votes=2)


@pytest.fixture
async def appended(store, alice, bob):
    """`await appended()` returns the entries since its last call, at first those after the registrations."""
    reader = LogReader(store)
    await reader()
    return reader


async def test_post_and_votes_are_entries(store, alice, bob, appended, clock):
    draft = Draft("a title", "https://example.com/", groups=("show", "ask"))
    number = (await store.articles.post(alice, draft)).article.number
    await store.articles.vote(number, bob, Vote.DOWN)
    await store.articles.vote(number, bob, Vote.NONE)

    values = {"title": "a title", "link": "https://example.com/", "content": "", "groups": "ask show"}
    assert await appended() == [
        ("posted", "Alice", f"article:{number}", {**values, "time": str(clock.now), "up": "1", "down": "0"}),
        ("voted", "bob", f"article:{number}", {"value": "-1", "up": "1", "down": "1"}),
        ("voted", "bob", f"article:{number}", {"value": "0", "up": "1", "down": "0"}),
    ]


async def test_edits_have_the_changed_fields(store, alice, appended, clock):
    number = (await post(store, alice)).number
    await appended()
    clock.advance(1)
    await store.articles.edit(number, alice, {"title": "another", "content": "some text"})
    await store.articles.edit(number, alice, {"link": ""})

    assert await appended() == [
        (
            "edited",
            "Alice",
            f"article:{number}",
            {"edited": str(clock.now), "title": "another", "content": "some text"},
        ),
        ("edited", "Alice", f"article:{number}", {"edited": str(clock.now), "link": ""}),
    ]


async def test_regroup_has_all_groups_and_those_that_change(store, alice, appended):
    number = (await post(store, alice, groups=["ask", "show"])).number
    await appended()
    await store.articles.regroup(number, alice, add=["new", "show"], remove=["ask"])

    assert await appended() == [
        ("regrouped", "Alice", f"article:{number}", {"groups": "new show", "changed": "new ask"})
    ]


async def test_deletion_removes_the_texts_from_the_log(store, alice, bob, appended, redis):
    partition = store.site.partition_of_user(alice)
    posted = await post(store, alice, groups=["show"])
    await store.articles.edit(posted.number, alice, {"title": "another"})
    await store.articles.vote(posted.number, bob, Vote.UP)
    ids = [entry.id for entry in await entries(store) if entry.kind in ("posted", "edited")]
    await store.articles.delete(posted.number, alice)

    article = f"article:{posted.number}"
    assert await appended() == [
        ("voted", "bob", article, {"value": "1", "up": "2", "down": "0"}),
        ("deleted", "Alice", article, {"poster": "Alice", "groups": "show", "entries": " ".join(ids)}),
    ]
    assert redis.hgetall(keys.logged(partition)) == {}


async def test_registration_and_password_are_entries_without_secrets(store, appended, clock):
    opened = await store.users.register("Carol", PASSWORDS[0])
    await store.users.change_password(parse_token(opened.token), *PASSWORDS)

    assert await appended() == [
        ("registered", "Carol", "user:carol", {"name": "Carol", "joined": str(clock.now)}),
        ("password_changed", "Carol", "user:carol", {}),
    ]


async def test_follows_are_entries_of_the_follower(store, alice, bob, appended, clock):
    await store.follows.follow(bob, "alice")
    await store.follows.follow(bob, "alice")
    await store.follows.unfollow(bob, "alice")

    assert await appended() == [
        ("followed", "bob", "user:alice", {"followee": "Alice", "since": str(clock.now)}),
        ("unfollowed", "bob", "user:alice", {"followee": "Alice"}),
    ]
    assert {entry.partition for entry in await entries(store) if entry.actor == "bob"} == {
        store.site.partition_of_user("bob")
    }


async def test_mark_that_moves_is_an_entry(store, alice, appended):
    await store.follows.mark_seen(alice, Position(7.0, keys.member(5)))
    await store.follows.mark_seen(alice, Position(6.0, keys.member(5)))

    assert await appended() == [("seen", "Alice", "user:alice", {"seen": "7.0 0000000000000005"})]


async def test_import_has_the_user_it_creates_and_all_votes(store, alice, appended, redis, clock):
    created = await create_voters(store, [Story("1", "a", link="", poster="Dave", time=clock.now, votes=3)])
    stories = [
        Story("1", "a", link="https://example.com/", poster="Dave", time=clock.now, votes=9, groups=("show",)),
        Story("2", "b", link="", poster="Dave", time=5, votes=9),
    ]
    await import_batch(store, stories, created.names)
    numbers = [redis.hget(keys.imported(store.site.partition_of_user("dave")), story) for story in "12"]
    voters = [("registered", name, f"user:{name}", {"name": name, "joined": str(clock.now)}) for name in created.names]
    shared = {"content": "", "down": "0", "up": "9"}
    first = {"title": "a", "link": "https://example.com/", "groups": "show", "time": str(clock.now), "imported": "5"}
    second = {"title": "b", "link": "", "groups": "", "time": "5", "imported": "8"}

    found = await appended()
    assert sorted([entry for entry in found if entry[1] != "Dave"]) == sorted(voters)
    assert [entry for entry in found if entry[1] == "Dave"] == [
        ("registered", "Dave", "user:dave", {"name": "Dave", "joined": str(clock.now)}),
        (
            "imported",
            "Dave",
            f"article:{numbers[0]}",
            {**shared, **first, "voters": "voter-0001 voter-0002 voter-0003 Dave", "story": "1"},
        ),
        ("imported", "Dave", f"article:{numbers[1]}", {**shared, **second, "voters": "Dave", "story": "2"}),
    ]


async def test_follows_of_an_import_are_entries(store, appended, clock):
    await follow(store, ["Alice", "bob"], 1)

    assert sorted(await appended(), key=str) == [
        ("followed", "Alice", "user:bob", {"followee": "bob", "since": str(clock.now)}),
        ("followed", "bob", "user:alice", {"followee": "Alice", "since": str(clock.now)}),
    ]


async def test_repair_of_a_record_is_an_entry_with_what_it_sets(store, alice, bob, appended, redis):
    partition = store.site.partition_of_user(alice)
    number = (await post(store, alice)).number
    await store.articles.vote(number, bob, Vote.UP)
    await appended()
    redis.sadd(keys.downvoted(partition, number), "bob")
    redis.srem(keys.voted(partition, number), "Alice")
    redis.hset(keys.article(partition, number), "up", 7)
    redis.hset(keys.user(partition, "alice"), "karma", 100)
    redis.zrem(keys.index(partition, "score"), keys.member(number))
    await verify.verify(store.site, lambda finding: None)
    assert await appended() == []
    await verify.verify(store.site, lambda finding: None, repair=True)

    assert await appended() == [
        ("repaired", "", f"article:{number}", {"upvoters": "bob Alice", "up": "2"}),
        ("repaired", "", "user:alice", {"karma": "1"}),
    ]


async def test_rankings_are_entries_of_every_partition(store, appended):
    def of_each_partition(group: str) -> list[tuple[str, str, str, dict[str, str]]]:
        return [("ranked", "", "", {"group": group})] * store.site.partitions

    await reindex.set_weights(store.site, "show", {"vote_score": 1.0}, progress=lambda count: None)
    assert await appended() == of_each_partition("show")

    await reindex.reindex(store.site, [Order.TIME, Order.VOTES], progress=lambda count: None)
    found = Counter(map(str, await appended()))
    assert found.keys() == {str(of_each_partition("")[0])}


async def test_other_weights_of_the_site_are_an_entry_of_every_partition(store, redis_url, appended):
    other = await Store.open(redis_url, Policy(good_votes=3), clock=store.site.clock, strict=False)
    await verify.verify(other.site, lambda finding: None, repair=True)
    await other.close()

    assert await appended() == [("ranked", "", "", {"group": ""})] * store.site.partitions


async def test_refused_write_appends_nothing(store, alice, bob, appended, redis, clock):
    number = (await post(store, alice, groups=["show"])).number
    await store.articles.vote(number, bob, Vote.UP)
    session = parse_token((await store.users.register("Carol", PASSWORDS[0])).token)
    await import_batch(store, [Story("1", "a", link="", poster="Dave", time=clock.now, votes=3)])
    await appended()
    for unchanged in (
        lambda: store.articles.vote(number, bob, Vote.UP),
        lambda: store.articles.edit(number, alice, {}),
        lambda: store.articles.regroup(number, alice, add=["show"], remove=["ask"]),
        lambda: store.follows.unfollow(alice, "bob"),
        lambda: import_batch(store, [Story("1", "a", link="", poster="Dave", time=clock.now, votes=3)]),
        lambda: store.site.redis.run(("EXISTS", keys.log(0))),
    ):
        await unchanged()
    for refused in (
        lambda: store.articles.vote(number, alice, Vote.DOWN),
        lambda: store.articles.vote(1024, alice, Vote.DOWN),
        lambda: store.articles.edit(number, bob, {"title": "another"}),
        lambda: store.articles.edit(number, alice, {"link": "", "content": ""}),
        lambda: store.articles.regroup(number, bob, add=["ask"], remove=[]),
        lambda: store.articles.delete(number, bob),
        lambda: store.articles.post("nobody", Draft("a title", "https://example.com/")),
        lambda: store.follows.follow(alice, "nobody"),
        lambda: store.users.register("carol", PASSWORDS[0]),
    ):
        with pytest.raises(Refusal):
            await refused()
    with pytest.raises(BadCredentials):
        await store.users.change_password(session, *PASSWORDS[::-1])

    assert await appended() == []


async def test_closed_store_appends_nothing(store, alice, bob, appended):
    number = (await post(store, alice)).number
    await appended()
    await WriteLock(store.site).acquire()
    for closed in (
        lambda: post(store, alice),
        lambda: store.articles.vote(number, bob, Vote.UP),
        lambda: store.articles.delete(number, alice),
        lambda: store.follows.follow(alice, "bob"),
        lambda: registered(store, "carol"),
    ):
        with pytest.raises(StoreUnavailable):
            await closed()

    assert await appended() == []


async def test_no_entry_has_a_secret(store, redis, clock):
    """Everything that the store keeps of passwords, tokens, links and idempotency keys is looked for in all entries."""
    scene = await scenes.opened(store, redis, clock)
    opened = await store.users.register("Erin", PASSWORDS[0])
    hashed = redis.hget(keys.user(store.site.partition_of_user("erin"), "erin"), "password")
    await store.users.change_password(parse_token(opened.token), *PASSWORDS)
    await store.server_keys.create("shop")
    await scenes.use(scene, random.Random(3), times=60)
    again = redis.hget(keys.user(store.site.partition_of_user("erin"), "erin"), "password")
    secrets = {*PASSWORDS, opened.token, parse_token(opened.token).digest, hashed, again}
    secrets |= {links.digest("https://example.com/"), *redis.hvals(server_keys.serverkeys(server_keys.PARTITION))}
    for partition in range(store.site.partitions):
        for pattern in (keys.session(partition, "*"), idempotency.POSTED(partition, "*", "*")):
            secrets |= {key.rsplit(":", 1)[1] for key in redis.scan_iter(pattern)}
    text = " ".join(str(entry) for entry in await entries(store))

    assert len(secrets) > 9 and None not in secrets
    assert [secret for secret in secrets if secret in text] == []


@pytest.mark.parametrize("seed", range(3))
async def test_entries_give_the_state_of_the_store(store, redis, clock, seed):  # D1
    """Also when they are applied again, in order, as a rebuilt database does."""
    scene = await scenes.opened(store, redis, clock)
    await store.articles.regroup(scene.open.number, "Alice", add=["video"], remove=["ask"])
    await scenes.use(scene, random.Random(seed), times=600)
    edited = await post(store, "alice")  # so that there is an edit: other edited articles may have been deleted
    await store.articles.edit(edited.number, "alice", {"title": "edited"})
    found = await entries(store)
    replay = Replay().apply(found)

    assert replay.state() == await stored(store)
    assert all(replay.articles)
    for record in await records(store):
        if isinstance(record, ArticleRecord):
            up, down = replay.up_and_down(record.number)
            counted = len(up) + int(record.fields.get("imported", 0)), len(down)
            assert not record.upvoters or (up, down) == (set(record.upvoters), set(record.downvoters))
            assert (int(record.fields["up"]), int(record.fields["down"])) == counted
        if isinstance(record, ImportedRecord):
            kept = {story: int(number) for story, number in record.numbers.items() if int(number) in replay.articles}
            assert kept.items() <= replay.stories.items()
    assert replay.apply(found).state() == await stored(store)
    assert {entry.kind for entry in found} >= {"posted", "imported", "voted", "edited", "regrouped", "comment_imported"}
