"""
The log, which has an entry for each change of a store, over GraphQL: `changes` as pages and as a subscription, over
WebSocket and server-sent events. Each partition of the store has a log of its own; a cursor has a position in each.

The fixture `token` is a session token of the user vera. Codes such as D4 name rows of docs/behaviours.md.
"""

import asyncio
import json
import random
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import httpx
import pytest

from resolvers import changes
from resolvers.changes import Checkpoint, CursorGone
from resolvers.context import Context
from resolvers.live import Live
from server.app import KEY_HEADER
from store import keys, log, roles
from store.articles import Draft
from store.errors import StoreUnavailable
from store.moderation_records import Role
from store.records import Vote
from store.roles import OPERATOR
from store.server_keys import ServerKeys
from store.sessions import parse_token
from tests.conftest import registered
from tests.engine.sample import until
from tests.schema.subscribers import answered, listeners, subscribed
from tests.servers import PATIENCE
from tests.store.reading import post

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store

PAGE = """query($after: String, $limit: Int, $kinds: [String!]) {
  changes(after: $after, limit: $limit, kinds: $kinds) {
    changes { cursor at kind subjectId actorId fields { name value } } endCursor hasMore } }"""
SHORT = "{ changes { endCursor hasMore } }"
FOLLOWED = "subscription($after: String, $kinds: [String!]) { changes(after: $after, kinds: $kinds) { cursor kind } }"
WHOLE = (
    "subscription($after: String) { changes(after: $after) { cursor kind subjectId actorId fields { name value } } }"
)
NAMES = [f"user-{number}" for number in range(6)]


@pytest.fixture
async def key(store) -> str:
    """A server key, by which a program may read the log."""
    return str(await store.server_keys.create("reader"))


@pytest.fixture
def read(ask, key):
    async def read(**arguments: Any) -> dict[str, Any]:
        answer = await ask(PAGE, server_key=key, **arguments)
        assert "errors" not in answer, answer
        return answer["data"]["changes"]

    return read


@pytest.fixture
def context(store, live, key) -> Context:
    return Context(store, live=live, server_key=key)


async def write(store, times: int, seed: int = 1) -> None:
    """Follow, unfollow, post and vote, at random and so often, so that all partitions have entries."""
    chance, articles = random.Random(seed), []
    for name in NAMES:
        await registered(store, name)
    for _ in range(times):
        one, other = chance.sample(NAMES, 2)
        change = chance.choice((store.follows.follow, store.follows.unfollow, None))
        if change:
            await change(one, other)
        elif not articles or chance.random() < 0.5:
            articles.append(await post(store, one))
        else:
            await store.articles.vote(chance.choice(articles).number, f"voter-{chance.randrange(9)}", Vote.DOWN)


async def stored(store) -> dict[int, list[log.Entry]]:
    """All entries of the log by partition, each of which has a log of its own."""
    return {
        partition: await log.read(store.site, partition, log.START, count=100_000)
        for partition in range(store.site.partitions)
    }


def partition_of(store, change: dict[str, Any]) -> int:
    """The partition whose log has an entry."""
    kind, _, name = change["subjectId"].partition(":")
    if change["kind"] in ("followed", "unfollowed"):
        name = change["actorId"].partition(":")[2]
    return store.site.partition_of_article(int(name)) if kind == "article" else store.site.partition_of_user(name)


async def assert_received_once(store, received: list[dict[str, Any]]) -> None:
    """All entries of the log were received, those of each partition in their order."""
    for partition, entries in (await stored(store)).items():
        expected = [(entry.kind, entry.subject, list(entry.values.items())) for entry in entries]
        fields = [[(field["name"], field["value"]) for field in change["fields"]] for change in received]
        assert expected == [
            (change["kind"], change["subjectId"], values)
            for change, values in zip(received, fields, strict=True)
            if partition_of(store, change) == partition
        ]


async def code_of(ask, **arguments: Any) -> str:
    """The code of the error with which a page of changes is refused."""
    answer = await ask(PAGE, **arguments)
    assert answer["data"] == {"changes": None}
    (error,) = answer["errors"]
    return error["extensions"]["code"]


async def test_page_has_the_entries_of_the_log(store, read, alice, bob, clock):
    article = await post(store, alice, groups=["show"])
    clock.advance(1)
    await store.articles.vote(article.number, bob, Vote.UP)
    await store.follows.follow("bob", "ALICE")
    page = await read()

    by_kind = {change["kind"]: change for change in page["changes"]}
    assert by_kind.keys() == {"registered", "posted", "voted", "followed"}
    posted = by_kind["posted"]
    assert (posted["subjectId"], posted["actorId"]) == (article.id, "user:alice")
    assert posted["at"] == "2016-08-04T11:52:00.000Z"
    assert {"name": "groups", "value": "show"} in posted["fields"]
    assert by_kind["voted"]["at"] == "2016-08-04T11:52:01.000Z"
    assert {"name": "up", "value": "2"} in by_kind["voted"]["fields"]
    assert (by_kind["followed"]["subjectId"], by_kind["followed"]["actorId"]) == ("user:alice", "user:bob")
    assert page["hasMore"] is False


@pytest.mark.parametrize("limit", [1, 7, 100, 1_000])
async def test_pages_have_all_entries_once_and_in_order(store, read, limit):  # D4
    await write(store, 90)
    received, page = [], {"endCursor": None, "hasMore": True}
    while page["hasMore"]:
        page = await read(after=page["endCursor"], limit=limit)
        assert len(page["changes"]) == limit or not page["hasMore"]
        received += page["changes"]

    await assert_received_once(store, received)
    assert (await read(after=page["endCursor"]))["changes"] == []


async def test_each_change_has_a_cursor_at_which_reading_goes_on(store, read):  # D4
    await write(store, 30)
    whole = (await read())["changes"]

    for place, change in enumerate(whole):
        assert (await read(after=change["cursor"]))["changes"] == whole[place + 1 :]


async def test_changes_since_a_page_are_on_the_next_one(store, read):  # D4
    empty = await read()
    assert (empty["changes"], empty["hasMore"]) == ([], False)
    await write(store, 20)
    first = await read(after=empty["endCursor"])
    await write(store, 20, seed=2)
    second = await read(after=first["endCursor"])

    await assert_received_once(store, first["changes"] + second["changes"])


async def test_entries_of_partitions_are_merged_by_the_time_of_the_store(store, context):
    await write(store, 60)
    page = await changes.page(context, limit=1_000)

    times = [log.sort_key(change.entry.id)[0] for change in page.changes]
    assert times == sorted(times)


async def test_only_some_kinds_are_read(store, read, monkeypatch):
    await write(store, 60)
    everything = (await read())["changes"]
    some = await read(kinds=["posted", "voted", "unknown"])
    none = await read(kinds=[])

    assert some["changes"] == [change for change in everything if change["kind"] in ("posted", "voted")] != []
    assert (none["changes"], none["hasMore"]) == ([], False)
    monkeypatch.setattr(changes, "MAX_PASSED_OVER", 10)
    page, found = {"endCursor": None, "hasMore": True}, []
    while page["hasMore"]:
        page = await read(after=page["endCursor"], kinds=["voted"])
        found += page["changes"]
    assert found == [change for change in everything if change["kind"] == "voted"]


async def test_page_of_large_texts_is_short(store, read, alice):
    for number in range(6):
        await store.articles.post(alice, Draft(f"title {number}", content="x" * 39_000, groups=()))
    whole = await read()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(changes, "PAGE_CHARACTERS", 60_000)
        page = await read()

    assert (len(whole["changes"]), whole["hasMore"]) == (7, False)  # with the poster's registration
    assert (len(page["changes"]), page["hasMore"]) == (3, True)


async def test_only_server_keys_and_admins_read_the_log(store, ask, key, token):  # M1
    await store.server_keys.create("other")
    await store.server_keys.revoke("other")

    for wrong in (None, "reader", "reader.wrong", "other." + key.partition(".")[2], key + "x"):
        assert await code_of(ask, server_key=wrong) == "FORBIDDEN"
    assert await code_of(ask, token=token) == "FORBIDDEN"
    await roles.grant(store.site, OPERATOR, "vera", Role.MODERATOR, group=None, reason="helps")
    assert await code_of(ask, token=token) == "FORBIDDEN"
    await roles.grant(store.site, OPERATOR, "vera", Role.ADMIN, group=None, reason="helps")
    assert "errors" not in await ask(SHORT, token=token)
    assert "errors" not in await ask(SHORT, token=token, server_key="reader.wrong")


async def test_whoever_reads_the_log_by_a_session_that_has_ended_is_told(store, ask, token):
    await store.sessions.close(parse_token(token))
    assert (await ask(SHORT, token=token))["extensions"]["session"] == "ended"


async def test_answer_is_not_shared_with_a_request_without_a_key(store, ask, key):
    """Both requests have no token and arrive at the same time."""
    await write(store, 3)
    with_key, without = await asyncio.gather(ask(SHORT, server_key=key, stats=False), ask(SHORT, stats=False))

    assert with_key["data"]["changes"]["endCursor"]
    assert without["data"] == {"changes": None}


@pytest.mark.parametrize("limit", [0, -1, 1_001])
async def test_limit_is_bounded(ask, key, limit):
    assert await code_of(ask, server_key=key, limit=limit) == "BAD_USER_INPUT"


@pytest.mark.parametrize(
    "text",
    # a cursor is "changes|IDENTITY OF THE LOG|MILLISECONDS|OFFSETS": the time of the newest id that was read, and how
    # much earlier that of each partition is, at most by MILLISECONDS
    [
        "",
        "changes|abc|1",
        "changes|abc|1|",
        "changes|abc|1|2",
        "changes|abc|1|0,",
        "changes|abc|1|-1",
        "changes|abc|9|1..1",
        "changes|ab c|1|0",
        "changes|abc|" + "9" * 16 + "|0",
        "score|1|2",
        "é|ü",
        "changes|abc|1|" + "0," * 20_000 + "0",
    ],
)
async def test_malformed_cursor_is_bad_input(ask, key, text):
    cursor = urlsafe_b64encode(text.encode("utf-8", "surrogatepass")).decode()

    assert await code_of(ask, server_key=key, after=cursor) == "BAD_USER_INPUT"
    assert await code_of(ask, server_key=key, after=text) == "BAD_USER_INPUT"


async def test_cursor_of_another_log_is_gone(store, ask, read, key, redis):  # D4
    await write(store, 5)
    cursor = (await read())["endCursor"]
    redis.hset(keys.store(), log.IDENTITY_FIELD, "another")

    assert await code_of(ask, server_key=key, after=cursor) == "CURSOR_GONE"


async def test_cursor_of_a_store_of_more_partitions_is_gone(store, ask, key):
    identity = await log.identity(store.site)
    cursor = changes.LogPosition(identity, ("0-0",) * (store.site.partitions + 1)).cursor

    assert await code_of(ask, server_key=key, after=cursor) == "CURSOR_GONE"


async def test_cursor_before_removed_entries_is_gone_and_one_after_them_is_not(store, ask, read, key):  # D4
    await write(store, 30)
    before, last = (await read(limit=3))["endCursor"], (await read())["endCursor"]
    await log.trim(store.site, kept_ms=0, max_entries=1_000)
    await write(store, 3, seed=2)

    assert await code_of(ask, server_key=key, after=before) == "CURSOR_GONE"
    rest = await read(after=last)
    assert rest["changes"] == (await read())["changes"] != []


async def test_cursor_at_an_entry_of_a_deleted_article_goes_on(store, read, alice):  # D4
    article = await post(store, alice)
    cursor = (await read())["endCursor"]
    await store.articles.delete(article.number, alice)

    assert [change["kind"] for change in (await read(after=cursor))["changes"]] == ["deleted"]


async def test_cursor_of_lost_entries_is_gone(store, ask, read, key, redis, alice):
    """A store that was killed may lose the entries of the last second."""
    article = await post(store, alice)
    await store.articles.vote(article.number, "vera", Vote.UP)
    cursor = (await read())["endCursor"]
    log_key = keys.log(store.site.partition_of_article(article.number))
    redis.xdel(log_key, redis.xrevrange(log_key, count=1)[0][0])

    assert await code_of(ask, server_key=key, after=cursor) == "CURSOR_GONE"


async def test_subscriber_who_is_cut_off_again_and_again_receives_everything_once(store, url, read, key):  # D4
    received: list[dict[str, Any]] = []
    cursor = (await read())["endCursor"]
    async for count in interruptions(store, received):
        async with subscribed(url, WHOLE, server_key=key, after=cursor) as subscriber:
            for _ in range(count):
                received.append(await subscriber.value())
                cursor = received[-1]["cursor"]
            subscriber.cut()

    await assert_received_once(store, received)


async def test_event_source_goes_on_after_the_last_event(store, url, key):  # D4
    """The client has an id at once, so it loses nothing even if it is cut off before the first event."""
    received: list[dict[str, Any]] = []
    async with events_of(url, key, WHOLE) as events:
        last, data = await anext(events)
        assert last and data is None
    async for count in interruptions(store, received):
        async with events_of(url, key, WHOLE, last_event_id=last) as events:
            assert await anext(events) == (last, None)
            for _ in range(count):
                last, data = await anext(events)
                assert data is not None
                received.append(data["data"]["changes"])
                assert received[-1]["cursor"] == last

    await assert_received_once(store, received)


async def interruptions(store, received: list[dict[str, Any]]) -> AsyncIterator[int]:
    """While others write: how many changes to receive before the next interruption, until all are received."""
    chance = random.Random(5)
    writers = asyncio.gather(*(write(store, 80, seed) for seed in range(3)))
    while not writers.done():
        yield chance.randrange(12)
    await writers
    total = sum(map(len, (await stored(store)).values()))
    while len(received) < total:
        yield min(chance.randrange(1, 200), total - len(received))


async def test_subscriber_without_a_cursor_receives_changes_from_now_on(store, url, live, key, alice):
    await write(store, 10)
    async with subscribed(url, FOLLOWED, server_key=key) as subscriber:
        await listening(live)
        await post(store, alice)

        assert (await subscriber.value())["kind"] == "posted"


async def test_subscriber_receives_changes_without_an_article(store, url, live, key, alice, bob):
    async with subscribed(url, FOLLOWED, server_key=key) as subscriber:
        await listening(live)
        await store.follows.follow(alice, bob)
        assert (await subscriber.value())["kind"] == "followed"
        await store.users.register("carol", "correct horse")
        assert (await subscriber.value())["kind"] == "registered"


async def test_subscriber_receives_only_some_kinds(store, url, live, key):
    async with subscribed(url, FOLLOWED, server_key=key, kinds=["voted"]) as subscriber:
        await listening(live)
        await write(store, 40)
        votes = sum(entry.kind == "voted" for entries in (await stored(store)).values() for entry in entries)

        assert [(await subscriber.value())["kind"] for _ in range(votes)] == ["voted"] * votes


async def test_event_source_learns_how_far_it_is_while_other_kinds_are_written(store, url, key, monkeypatch):
    monkeypatch.setattr(changes, "CHECKPOINT_INTERVAL", 0.1)
    async with events_of(url, key, FOLLOWED.replace("$kinds: [String!]", '$kinds: [String!] = ["none"]')) as events:
        first, _ = await anext(events)
        await write(store, 10)
        newest = tuple(await log.newest(store.site))
        last = first
        while changes.parse_cursor(last).ids != newest:  # the first may be sent while entries are still written
            last, data = await anext(events)
            assert data is None

    assert first != last
    await log.trim(store.site, kept_ms=0, max_entries=1_000)
    assert (await changes.position_of(store.site, last)).ids == newest


@pytest.mark.parametrize(
    ("with_key", "after", "expected"), [(False, None, "FORBIDDEN"), (True, "odd", "BAD_USER_INPUT")]
)
async def test_refused_subscription_ends_with_its_error(url, key, with_key, after, expected):
    async with subscribed(url, FOLLOWED, server_key=key if with_key else None, after=after) as subscriber:
        assert (await subscriber.refusal())[0] == expected


async def test_subscription_ends_when_its_key_is_revoked(store, url, live, key, alice, monkeypatch):
    monkeypatch.setattr(changes, "CHECK_INTERVAL", 0)
    async with subscribed(url, FOLLOWED, server_key=key) as subscriber:
        await listening(live)
        await store.server_keys.revoke("reader")
        await post(store, alice)

        assert (await subscriber.refusal())[0] == "FORBIDDEN"


async def test_subscription_ends_when_its_admin_is_one_no_more(store, url, live, alice, token, monkeypatch):  # M1
    monkeypatch.setattr(changes, "CHECK_INTERVAL", 0)
    for name in ("vera", alice):
        await roles.grant(store.site, OPERATOR, name, Role.ADMIN, group=None, reason="helps")
    async with subscribed(url, FOLLOWED, token=token) as subscriber:
        await listening(live)
        await roles.revoke(store.site, OPERATOR, "vera", Role.ADMIN, group=None, reason="helps no more")

        assert (await subscriber.refusal())[0] == "FORBIDDEN"


async def test_slow_subscriber_is_told_that_entries_were_removed(store, context, monkeypatch):  # D4
    """What a subscriber does not read is not in memory: once it is removed from the log, it is gone."""
    monkeypatch.setattr(changes, "ENTRIES_AT_ONCE", 4)
    async with aclosing(changes.subscribe(context)) as received:
        assert isinstance(await anext(received), Checkpoint)
        await write(store, 200)
        first = [await anext(received) for _ in range(3)]
        await log.trim(store.site, kept_ms=0, max_entries=10)
        await write(store, 20, seed=2)

        assert all(change.kind for change in first)
        with pytest.raises(CursorGone, match="entries after this cursor were removed from the log"):
            async for _ in received:
                pass


async def test_subscription_goes_on_after_the_store_was_unavailable(store, context, monkeypatch):
    monkeypatch.setattr(changes, "RECONNECT_PAUSE", 0.01)
    monkeypatch.setattr(changes, "CHECK_INTERVAL", 0)
    failing_at_times(monkeypatch, log, "read_on")
    failing_at_times(monkeypatch, ServerKeys, "names")
    async with aclosing(changes.subscribe(context)) as received:
        await anext(received)
        await write(store, 40)
        total = sum(map(len, (await stored(store)).values()))
        found = [await asyncio.wait_for(anext(received), PATIENCE) for _ in range(total)]

    by_partition = {
        partition: [change.entry for change in found if change.entry.partition == partition]
        for partition in range(store.site.partitions)
    }
    assert by_partition == await stored(store)


def failing_at_times(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> None:
    """Let the second, third and fifth call of a function fail, as if the store did not answer."""
    function, failures = getattr(owner, name), iter([False, True, True, False, True])

    async def failing(*arguments: Any) -> Any:
        if next(failures, False):
            raise StoreUnavailable("the store does not answer")
        return await function(*arguments)

    monkeypatch.setattr(owner, name, failing)


async def listening(live: Live) -> None:
    """Wait until a subscriber has begun: it listens before it reads where the log ends."""
    await until(lambda: listeners(live) > 0)
    await answered(live._store)


class EventSource:
    """Reads server-sent events as browsers do: an id counts also without data."""

    def __init__(self, response: httpx.Response) -> None:
        self._lines = response.aiter_lines()

    async def __anext__(self) -> tuple[str, dict[str, Any] | None]:
        id, data = "", ""
        async for line in self._lines:
            name, _, value = line.partition(": ")
            id = value if name == "id" else id
            data = value if name == "data" else data
            if not line and (id or data):
                return id, json.loads(data) if data else None
        raise AssertionError("the stream has ended")


@asynccontextmanager
async def events_of(url: str, key: str, query: str, last_event_id: str = "") -> AsyncIterator[EventSource]:
    headers = {"Accept": "text/event-stream", KEY_HEADER: key}
    headers |= {"Last-Event-ID": last_event_id} if last_event_id else {}
    async with (
        httpx.AsyncClient(timeout=PATIENCE, verify=False) as client,
        client.stream("GET", url.replace("ws", "http", 1), params={"query": query}, headers=headers) as response,
    ):
        yield EventSource(response)
