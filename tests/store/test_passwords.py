"""Passwords are hashed in threads, as it takes long, and wait for these in a queue of bounded length and time."""

import asyncio
import threading

import pytest

from store.errors import RateLimited
from store.passwords import DUMMY_HASH, HASHER, Passwords  # the real ones: fixtures replace them by cheap ones

PASSWORD = "correct horse"


@pytest.fixture(autouse=True)
def passwords_of_a_server(monkeypatch):
    """Hash at the cost of a server, as the fixture `cheap_passwords` prevents for all other tests."""
    monkeypatch.setattr("store.passwords.HASHER", HASHER)
    monkeypatch.setattr("store.passwords.DUMMY_HASH", DUMMY_HASH)


@pytest.fixture
def gate(monkeypatch):
    """Threads wait in `verify` until `open` is set."""
    gated = Gated()
    monkeypatch.setattr("store.passwords.HASHER", gated)
    yield gated
    gated.open.set()


class Gated:
    """A hasher whose `verify` sets `entered`, notes the password, and waits for `open`."""

    def __init__(self):
        self.entered, self.open = threading.Event(), threading.Event()
        self.hashed = []

    def verify(self, password, known):
        self.entered.set()
        self.hashed.append(password)
        return self.open.wait(30)


async def test_flood_of_passwords_does_not_block_other_requests(store, clock, gate):
    passwords = Passwords(clock, threads=1, queue_length=2)
    flood = [asyncio.create_task(passwords.matches(PASSWORD, "hash")) for _ in range(5)]
    done, _ = await asyncio.wait(flood, return_when=asyncio.FIRST_EXCEPTION)
    await store.site.redis.ping()

    assert [type(task.exception()) for task in done] == [RateLimited] * 2
    assert {task.exception().retry_at for task in done} == {clock.now + 1_000}
    gate.open.set()
    assert await asyncio.gather(*flood[:3]) == [True] * 3
    assert await passwords.matches(PASSWORD, "hash")
    passwords.close()


async def test_password_that_waited_too_long_is_not_hashed(clock, gate):
    passwords = Passwords(clock, threads=1, queue_length=1, max_wait=0.5)
    first = asyncio.create_task(passwords.matches(PASSWORD, "hash"))
    await asyncio.to_thread(gate.entered.wait)
    second = asyncio.create_task(passwords.matches(PASSWORD, "hash"))
    await asyncio.sleep(0.6)
    gate.open.set()

    with pytest.raises(RateLimited) as late:
        await second
    assert late.value.retry_at == clock.now + 1_000
    assert await first
    assert await passwords.matches(PASSWORD, "hash")
    passwords.close()


async def test_queue_without_bounds_hashes_all_passwords(clock, gate):
    passwords = Passwords(clock, threads=1, queue_length=1, max_wait=0, is_bounded=False)
    flood = [asyncio.create_task(passwords.matches(PASSWORD, "hash")) for _ in range(200)]
    await asyncio.to_thread(gate.entered.wait)
    gate.open.set()

    assert await asyncio.gather(*flood) == [True] * 200
    passwords.close()


async def test_queue_without_bounds_does_not_hash_a_cancelled_password(clock, gate):
    passwords = Passwords(clock, threads=1, is_bounded=False)
    first = asyncio.create_task(passwords.matches(PASSWORD, "hash"))
    await asyncio.to_thread(gate.entered.wait)
    cancelled = [asyncio.create_task(passwords.matches("another", "hash")) for _ in range(200)]
    await asyncio.sleep(0)
    for task in cancelled:
        task.cancel()
    await asyncio.gather(*cancelled, return_exceptions=True)
    gate.open.set()

    assert await first and await passwords.matches(PASSWORD, "hash")
    assert gate.hashed == [PASSWORD] * 2
    passwords.close()


async def test_cancelled_password_takes_its_place_until_its_thread_is_done(clock, gate):
    passwords = Passwords(clock, threads=1, queue_length=0)
    left = asyncio.create_task(passwords.matches(PASSWORD, "hash"))
    await asyncio.to_thread(gate.entered.wait)
    left.cancel()
    await asyncio.gather(left, return_exceptions=True)

    with pytest.raises(RateLimited):
        await passwords.matches(PASSWORD, "hash")
    passwords.close()


async def test_hash_has_the_documented_memory_and_passes(clock):
    passwords = Passwords(clock)

    made = await passwords.hashed(PASSWORD)
    assert made.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert [len(part) for part in made.split("$")] == [len(part) for part in DUMMY_HASH.split("$")]
    assert DUMMY_HASH.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    passwords.close()


async def test_no_password_matches_where_none_is_known(clock):
    passwords = Passwords(clock)

    assert not await passwords.matches(PASSWORD, None)
    passwords.close()
