import asyncio

import pytest

from store import link
from store.errors import StoreUnavailable
from store.records import Place
from store.stores import Store


async def test_empty_batch_sends_nothing_and_waits_for_nothing(store):
    assert await store.site.connection.pipeline([]) == []


async def test_replies_belong_to_whoever_asked(store):
    connection = store.site.connection
    asked = [connection.pipeline([("ECHO", f"{each}-{turn}") for turn in range(each % 5)]) for each in range(200)]

    answers = await asyncio.gather(*asked)
    assert answers == [[f"{each}-{turn}" for turn in range(each % 5)] for each in range(200)]


async def test_whoever_goes_away_takes_no_replies_of_others(store):
    connection = store.site.connection
    gone = asyncio.ensure_future(connection.run(("ECHO", "gone")))
    await asyncio.sleep(0)
    gone.cancel()

    assert await connection.run(("ECHO", "there")) == "there"


async def test_lost_connection_is_made_anew(store, redis):
    connection = store.site.connection
    await connection.run(("CLIENT", "SETNAME", "ours"))
    (ours,) = [client for client in redis.client_list() if client["name"] == "ours"]
    redis.client_kill_filter(_id=ours["id"])

    with pytest.raises(StoreUnavailable):
        await connection.run(("ECHO", "lost"))
    assert await connection.run(("ECHO", "back")) == "back"


async def test_store_that_does_not_answer_in_time_is_unavailable(store, redis, monkeypatch):
    monkeypatch.setattr(link, "TIMEOUT", 0.05)
    connection = store.site.connection
    await connection.close()
    redis.client_pause(300)

    with pytest.raises(StoreUnavailable):
        await asyncio.gather(*(connection.run(("GET", "store")) for _ in range(3)))
    redis.client_unpause()
    assert await connection.run(("ECHO", "back")) == "back"


async def test_refused_command_is_a_fault_of_its_batch_alone(store):
    connection = store.site.connection
    good, bad = await asyncio.gather(
        connection.run(("ECHO", "good")), connection.run(("HGET", "store")), return_exceptions=True
    )

    assert good == "good"
    assert isinstance(bad, StoreUnavailable)


async def test_scripts_are_loaded_when_the_server_has_forgotten_them(store, redis, alice):
    redis.script_flush()

    assert (await store.follows.mark_seen(alice, Place(1.0, "1"))) == "Alice"


async def test_nothing_answers_there(tmp_path):
    with pytest.raises(StoreUnavailable):
        await Store.open(f"unix://{tmp_path}/nothing")
