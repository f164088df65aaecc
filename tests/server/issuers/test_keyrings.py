"""
The keys that a provider publishes, of which each process has a keyring: they are fetched in the background, by one
process for all, and rotated without a refusal.

Codes such as U3 name rows of docs/behaviours.md.
"""

import asyncio
import itertools
import time
from contextlib import AsyncExitStack

import httpx
import pytest

from server.guarded_client import Answer
from server.issuers import file, keyrings
from server.issuers.keyrings import Keyring, KeysUnavailable, Waiting, freshness
from store.key_sets import KeySets
from tests.server.issuers import issuing, provider
from tests.server.issuers.issuing import EC, OTHER_RSA, RSA

HOUR = 3_600_000  # milliseconds


class Ticking:
    """A clock that runs, in unix milliseconds, and can be set forward."""

    ahead = 0

    def __call__(self):
        return round(time.time() * 1000) + self.ahead


@pytest.fixture
def ticking():
    """The clock of all keyrings of a test."""
    return Ticking()


@pytest.fixture
async def asked():
    """The provider that keyrings ask for keys; `asked.asked` counts the requests for each path."""
    async with provider.running() as asked:
        yield asked


def keyring_of(asked, tmp_path, clock, waiting=None, **more):
    found = file.read(issuing.written(tmp_path, asked.table(**more)))
    return Keyring(
        found.issuers[0], hours=24, hours_away=72, waiting=waiting or Waiting(), on_change=ignore, clock=clock
    )


def ignore() -> None:
    """What a keyring calls when its keys have changed."""


@pytest.fixture
async def running(store, asked, tmp_path, ticking):
    """A function that makes a keyring, as a process has it, and keeps it current."""
    async with AsyncExitStack() as stack:

        async def make(**more):
            made = keyring_of(asked, tmp_path, ticking, **more)
            await stack.enter_async_context(keyrings.kept_current([made], KeySets(store.site)))
            return made

        yield make


async def until(holds, seconds=15):
    """Wait until a condition holds."""
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110 - nothing says when the background task has fetched
            await asyncio.sleep(0.02)


async def test_keys_are_fetched_once_for_all_processes(running, asked):  # U3
    rings = [await running() for _ in range(3)]

    found = await asyncio.gather(*(ring.find("rsa-1", "RS256") for ring in rings))

    assert [key.id for key in found] == ["rsa-1"] * 3
    assert asked.asked == {"/.well-known/openid-configuration": 1, "/keys": 1}


async def test_keys_survive_a_restart_while_their_provider_is_away(running, asked):  # U3
    await (await running()).find("rsa-1", "RS256")
    asked.status = 503

    restarted = await running()

    await until(lambda: len(restarted.current) == 1)
    assert (await restarted.find("rsa-1", "RS256")).id == "rsa-1"


@pytest.mark.slow
async def test_unknown_key_waits_for_the_next_fetch_and_throws_no_good_one_out(running, asked):  # U3
    ring = await running()
    await ring.find("rsa-1", "RS256")
    asked.keys = [RSA, OTHER_RSA]
    await asyncio.sleep(1)

    found = await asyncio.gather(*(ring.find("rsa-2", "RS256") for _ in range(50)), ring.find("rsa-1", "RS256"))

    assert [key.id for key in found] == ["rsa-2"] * 50 + ["rsa-1"]
    first, second = [at for path, at in asked.asked_at if path == "/keys"]
    assert second - first > 4  # five, less what the first one took to arrive
    assert await ring.find("nobody's", "RS256") is None
    assert await ring.find("rsa-1", "ES256") is None
    fetches = [at for path, at in asked.asked_at if path == "/keys"]
    assert all(later - earlier > 4 for earlier, later in itertools.pairwise(fetches))


@pytest.mark.slow
async def test_no_request_waits_longer_than_five_seconds_for_a_slow_provider(running, asked):  # U3
    """The next fetch begins four seconds after the request, and is answered two seconds later."""
    ring = await running()
    await ring.find("rsa-1", "RS256")
    asked.keys, asked.pause = [RSA, OTHER_RSA], 2.0
    await asyncio.sleep(1)

    with pytest.raises(KeysUnavailable):
        await ring.find("rsa-2", "RS256")

    assert (await ring.find("rsa-1", "RS256")).is_current
    assert (await ring.find("rsa-2", "RS256")).id == "rsa-2"  # the answer has come meanwhile


@pytest.mark.slow
async def test_revoked_key_is_refused_in_all_processes_soon_after_the_answer(running, asked, ticking):  # U3
    asked.caching = "max-age=60"
    rings = [await running() for _ in range(2)]
    kept = [await ring.find("rsa-1", "RS256") for ring in rings]
    asked.keys = [EC]

    ticking.ahead += 48_500  # more than four fifths of a minute, when the keys are fetched again
    await until(lambda: not any(key.is_current for key in kept))

    assert all(ring.current.find("rsa-1", "RS256") is None for ring in rings)


@pytest.mark.slow
async def test_too_many_waiting_requests_are_unavailable_and_so_is_an_absent_provider(running, asked, ticking):  # U3
    ring = await running()
    await ring.find("rsa-1", "RS256")
    asked.status = 500

    results = await asyncio.gather(*(ring.find(f"unknown-{n}", "RS256") for n in range(120)), return_exceptions=True)

    assert {type(each) for each in results} == {KeysUnavailable}
    assert [str(each) for each in results].count("too many requests wait for keys") == 20  # all but 100
    assert (await ring.find("rsa-1", "RS256")).is_current


async def test_last_keys_are_used_for_three_days_without_their_provider(running, asked, ticking):  # U3
    ring = await running()
    key = await ring.find("rsa-1", "RS256")
    asked.status = 500

    ticking.ahead += 71 * HOUR
    await asyncio.sleep(1.5)
    assert key.is_current

    ticking.ahead += HOUR
    await until(lambda: not key.is_current)
    assert len(ring.current) == 0


@pytest.mark.slow
async def test_keys_are_fetched_again_every_day_at_least(running, asked, ticking):  # U3
    asked.caching = "public, max-age=31536000, immutable"
    ring = await running()
    await ring.find("rsa-1", "RS256")

    ticking.ahead += round(19.5 * HOUR)  # more than four fifths of a day
    await until(lambda: asked.asked["/keys"] > 1, 20)
    assert asked.asked["/keys"] == 2


@pytest.mark.parametrize("answer", ["", "[]", '{"keys": {}}', '{"keys": ["x"]}', '{"keys": [' + "{}," * 100 + "{}]}"])
@pytest.mark.slow
async def test_answer_that_is_no_key_set_changes_nothing(running, asked, ticking, answer):
    ring = await running()
    key = await ring.find("rsa-1", "RS256")
    asked.body = answer or " "

    ticking.ahead += 24 * HOUR
    await until(lambda: asked.asked["/keys"] > 1)
    await asyncio.sleep(0.2)

    assert key.is_current and len(ring.current) == 1


async def test_discovery_of_another_issuer_is_not_used(running, asked, caplog):
    ring = await running(issuer="https://other.example/")
    await until(lambda: asked.asked["/.well-known/openid-configuration"] > 0)
    await asyncio.sleep(0.2)

    assert len(ring.current) == 0
    assert asked.asked["/keys"] == 0
    assert caplog.messages == [
        f"the keys of the issuer site were not fetched: discovery is that of the issuer '{asked.url}'"
    ]


@pytest.mark.slow
async def test_log_in_finds_a_provider_that_was_away_at_once(running, asked, ticking):
    """Else it would wait for the next try, up to a minute after the last."""
    asked.status = 503
    ring = await running()
    await until(lambda: ring._failures == 1)
    ring._next_try = ticking() + 60_000  # as after many failures
    asked.status = 200
    await asyncio.sleep(1)  # fetches are five seconds apart, and it waits five

    assert await ring.endpoint("authorization_endpoint") == f"{asked.url}/authorization"


async def test_endpoint_that_discovery_does_not_name_is_said(running, asked):
    ring = await running()

    with pytest.raises(KeysUnavailable, match="the issuer site names no end_session_endpoint"):
        await ring.endpoint("end_session_endpoint")


async def test_lasting_fault_is_logged_each_hour_and_another_at_once(store, asked, tmp_path, ticking, caplog):
    asked.status = 503
    ring, shared = keyring_of(asked, tmp_path, ticking), KeySets(store.site)
    client = keyrings.guarded_client(ring.issuer)
    for minutes, status in ((0, 503), (10, 503), (70, 503), (71, 500), (72, 500), (73, 200), (74, 500)):
        ticking.ahead, asked.status = minutes * 60_000, status
        await ring._fetch(client, shared, ticking())
    await client.close()

    assert [message.rpartition(" ")[2] for message in caplog.messages] == ["503", "503", "500", "500"]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 300),
        ({"cache-control": "max-age=1000"}, 1000),
        ({"cache-control": "public, MAX-AGE=1000, must-revalidate"}, 1000),
        ({"cache-control": "s-maxage=9, max-age=1000", "age": "400"}, 600),
        ({"cache-control": "max-age=1000", "age": "2000"}, 60),
        ({"cache-control": "max-age=1000, no-cache"}, 60),
        ({"cache-control": "no-store"}, 60),
        ({"cache-control": "max-age=x", "age": "-1"}, 300),
    ],
    ids=str,
)
def test_answers_are_fresh_as_they_say(headers, seconds):
    """For five minutes if they do not say, and for a minute at least."""
    assert freshness(Answer(200, httpx.Headers(headers), b"")) == seconds
