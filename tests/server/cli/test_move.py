"""The command `upvote move`, which copies a store to an empty one and refuses writes to the old one from then on."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest
from redis import Redis

from resolvers.rate_limits import WriteRates
from server.cli.main import main
from server.cli.move import move, undo
from server.cli.verify import verify
from server.settings import Settings
from store import keys, listings
from store.articles import Draft
from store.errors import StoreMismatch, StoreUnavailable, Unauthenticated
from store.listings import Window
from store.maintenance.import_stories import Story, import_batch
from store.maintenance.records.record import Record
from store.maintenance.restore import Restoration
from store.maintenance.write_lock import WriteLock
from store.ranking.formulas import Order
from store.records import Position, Vote
from store.sessions import parse_token
from store.store import Store
from tests import servers
from tests.conftest import registered
from tests.server.conftest import POST, REGISTER, serving
from tests.store.reading import everything, numbers, post, profile
from tests.support.stores import stored

LOG_IN = """mutation { logIn(input: {username: "alice", password: "correct horse"}) { token } }"""
READ = "{ viewer { username karma } account { sessions { id openedAt usedAt agent isCurrent } } }"
LOG_OUT = "mutation { logOut { userErrors { code } } }"

# the destination is another database of the same server
pytestmark = [pytest.mark.one_server, pytest.mark.many_partitions]


async def orders(settings: Settings) -> dict[str, list[int]]:
    """The numbers of all articles of a store in each order, at the same instant."""
    store = await Store.open(settings.redis_url, clock=lambda: 1_800_000_000_000)
    found = {order.name: await numbers(store, listings.whole(store.site, order), Window(1_000)) for order in Order}
    await store.close()
    return found


def test_moved_store_has_the_same_content_and_sessions(filled, empty, capsys):
    with serving(Path("unused"), redis_url=filled.redis_url) as live:
        token = live.ask(REGISTER)["data"]["register"]["token"]
        live.ask(POST, token)
        assert move(filled, empty.redis_url, partitions=64) == 0
        refused = {live.ask(write, token)["errors"][0]["extensions"]["code"] for write in (POST, LOG_IN, LOG_OUT)}
        read = live.ask(READ, token)["data"]
    with serving(Path("unused"), redis_url=empty.redis_url) as live:
        assert live.ask(READ, token)["data"] == read
        assert live.ask(POST, token, title="another")["data"]["post"]["article"]

    assert refused == {"UNAVAILABLE"}
    assert "moved 301 articles, 80 users into 64 partitions" in capsys.readouterr().out
    assert verify(empty, repair=False) == 0


def test_move_to_a_cluster_keeps_every_id_count_and_order(filled, tmp_path):
    with servers.running_cluster(tmp_path) as cluster:
        moved = Settings(redis_url=cluster.url)
        assert move(filled, cluster.url, partitions=16) == 0
        assert verify(moved, repair=False) == 0
        assert asyncio.run(orders(moved)) == asyncio.run(orders(filled))


async def test_moved_store_is_readable_and_refuses_writes_until_the_move_is_undone(store, redis, redis_url, capsys):
    for name in ("alice", "bob"):
        await registered(store, name)
    own = (await post(store, "alice")).number
    await WriteLock(store.site).acquire()
    writes: list[Callable[[], Awaitable[object]]] = [
        lambda: store.articles.post("alice", Draft("a title", "https://example.com/")),
        lambda: store.articles.vote(own, "bob", Vote.UP),
        lambda: store.articles.edit(own, "alice", {"title": "another"}),
        lambda: store.articles.regroup(own, "alice", add=["show"], remove=[]),
        lambda: store.articles.delete(own, "alice"),
        lambda: store.follows.follow("alice", "bob"),
        lambda: store.follows.unfollow("alice", "bob"),
        lambda: store.follows.mark_seen("alice", Position(1.0, keys.member(own))),
        lambda: store.users.register("carol", "correct horse"),
        lambda: import_batch(store, [Story("1", "a story", link="", poster="alice", time=store.site.clock(), votes=3)]),
    ]
    before = everything(redis)
    for write in writes:
        with pytest.raises(StoreUnavailable, match="being moved"):
            await write()
    assert everything(redis) == before
    assert (await profile(store, "alice")).karma == 0

    for _ in range(2):
        await asyncio.to_thread(undo, Settings(redis_url=redis_url))
    assert capsys.readouterr().out.splitlines() == [
        "this store accepts writes again; the copy does not receive them",
        "this store accepts writes: it was not moved",
    ]
    for write in (writes[0], writes[1], writes[5], writes[8]):  # a post, a vote, a follow and a registration
        await write()


async def test_sessions_do_not_change_while_the_store_is_moved(store, redis, clock):
    grant = await store.users.register("carol", "correct horse")
    session = parse_token(grant.token)
    clock.advance(store.site.session_lifetime / 2)
    await WriteLock(store.site).acquire()
    before = everything(redis)

    with pytest.raises(StoreUnavailable, match="being moved"):
        await store.sessions.close(session)
    with pytest.raises(StoreUnavailable, match="being moved"):
        await store.users.log_in("carol", "correct horse")
    await store.sessions.renew(session, grant.login)
    assert everything(redis) == before

    await WriteLock(store.site).release()
    assert (await store.users.log_in("carol", "correct horse")).login.username == "carol"
    await store.sessions.renew(session, grant.login)
    assert (
        redis.zscore(keys.sessions(store.site.partition_of_user("carol"), "carol"), session.digest)
        > grant.login.expires_at
    )
    await store.sessions.close(session)
    with pytest.raises(Unauthenticated):
        await store.sessions.close(session)


async def test_registration_refused_during_a_move_is_not_counted(store, redis):
    await WriteLock(store.site).acquire()
    before = everything(redis)

    with pytest.raises(StoreUnavailable, match="being moved"):
        await store.users.register("carol", "correct horse", WriteRates().of_registrations("1.1.1.1"))
    assert everything(redis) == before


async def test_password_is_not_changed_while_the_store_is_moved(store, redis):
    session = parse_token((await store.users.register("carol", "correct horse")).token)
    await WriteLock(store.site).acquire()

    with pytest.raises(StoreUnavailable, match="being moved"):
        await store.users.change_password(session, "correct horse", "battery staple")
    await WriteLock(store.site).release()
    assert (await store.users.log_in("carol", "correct horse")).login.username == "carol"


def test_store_accepts_writes_again_after_a_failed_move(filled, empty, monkeypatch):
    real = Restoration.put

    async def failing(restoration: Restoration, records: Sequence[Record]) -> None:
        if any(record.kind == "user" for record in records):
            raise StoreUnavailable("the store does not answer")
        await real(restoration, records)

    before = stored(filled)
    monkeypatch.setattr(Restoration, "put", failing)
    with pytest.raises(StoreUnavailable):
        move(filled, empty.redis_url, partitions=None)

    assert stored(filled) == before
    with pytest.raises(StoreMismatch, match="has not finished"):
        asyncio.run(Store.open(empty.redis_url))
    with pytest.raises(StoreMismatch, match="another restore was interrupted"):
        move(filled, empty.redis_url, partitions=None)


def test_write_during_a_move_is_detected(filled, empty, monkeypatch):
    """The lock has expired meanwhile, as that of a move that is suspended for too long does."""
    real = Restoration.put

    async def put_until_lock_expired(restoration: Restoration, records: Sequence[Record]) -> None:
        await real(restoration, records)
        with Redis.from_url(filled.redis_url) as redis:
            redis.delete(keys.closed(0))  # the lock of partition 0

    monkeypatch.setattr(Restoration, "put", put_until_lock_expired)
    with pytest.raises(StoreMismatch, match="written to while it was moved"):
        move(filled, empty.redis_url, partitions=None)
    with pytest.raises(StoreMismatch, match="has not finished"):
        asyncio.run(Store.open(empty.redis_url))


def test_store_in_use_is_not_moved_into(filled):
    before = stored(filled)

    with pytest.raises(StoreMismatch, match="not empty"):
        move(filled, filled.redis_url, partitions=2)
    assert stored(filled) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to", "http://example.com"], "a store's URL is redis://"),
        (["--to", "redis://127.0.0.1", "--partitions", "3"], "3 is not a power of two up to 1024"),
        ([], "one of the arguments --to --undo is required"),
    ],
)
def test_invalid_arguments_are_reported(arguments, message, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["move", *arguments])

    assert message in capsys.readouterr().err
