"""
Receivers of webhooks that fail, are slow or are away: when their messages are tried again, and what they delay.

`sending` gives a store, its database and a process that sends webhooks; the fixture `receiver` keeps what it accepts in
`taken`. Codes such as U8 name rows of docs/behaviours.md.
"""

import logging
from itertools import pairwise

import pytest

from database import webhooks
from server.webhooks import sender
from store.records import Vote
from tests.database.conftest import on_both
from tests.engine.sample import until
from tests.server import checking
from tests.server.webhooks.receiving import DAY, HOUR, about, receiving, sending, without_repeats
from tests.store.reading import post

FIRST_PAUSE = 5.5  # seconds at most: 5, and up to a tenth longer


def long_answer(handler) -> None:
    """Answer with ten megabytes."""
    handler.send_response(200)
    handler.send_header("content-length", "10000000")
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b" " * 100_000)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (checking.body(b"", 500), "status 500"),
        (checking.body(b"", 404), "status 404"),
        (checking.body(b"", 429, **{"retry-after": "1"}), "status 429"),
        (checking.hang_up, "RemoteProtocolError"),
        (checking.speak_nonsense, "RemoteProtocolError"),
        (checking.drip, "no answer within 2 s"),
        (checking.body(b"not gzip", **{"content-encoding": "gzip"}), "DecodingError"),
        (long_answer, "an answer of more than 64000 bytes"),
    ],
)
async def test_failing_message_delays_only_its_subject(
    store, database, receiver, alice, bob, clock, monkeypatch, answer, fault
):  # U8
    monkeypatch.setattr(sender, "TIME_LIMIT", 2.0)
    async with sending(store, database) as site:
        id = await site.add(receiver)
        failing, other = [(await post(store, alice)).number for _ in range(2)]
        receiver.answers[f"article:{failing}"] = answer
        for number in (failing, other):
            await store.articles.vote(number, bob, Vote.UP)
            await store.articles.edit(number, alice, {"title": "edited"})
        await site.send()

        assert receiver.kinds.count("posted") == 1
        assert [each["type"] for each in about(receiver, other)] == ["posted", "voted", "edited"]
        assert (await site.waiting(), site.results.count("failed")) == (3, 1)
        assert fault in await site.fault(id)

        receiver.answers.clear()
        clock.advance(FIRST_PAUSE)
        await site.send()

        assert [each["type"] for each in about(receiver, failing)] == ["posted", "voted", "edited"]
        assert (await site.waiting(), await site.fault(id)) == (0, None)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirect_is_a_failure_and_is_not_followed(store, database, receiver, alice, status):
    with receiving() as other:
        receiver.answer = checking.body(b"", status, location=other.url)
        async with sending(store, database) as site:
            id = await site.add(receiver)
            await post(store, alice)
            await site.send()

            assert (other.taken, other.forged, await site.fault(id)) == ([], 0, f"status {status}")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]"])
async def test_private_address_is_not_reached_unless_it_is_allowed(store, database, receiver, alice, monkeypatch, host):
    monkeypatch.setattr(sender, "WEB_PORTS", frozenset({receiver.server_port}))
    async with sending(store, database) as site:
        id = await site.add(receiver, url=f"http://{host}:{receiver.server_port}/hook?of=changes", allows_private=False)
        await post(store, alice)
        await site.send()

        assert (receiver.taken, receiver.forged) == ([], 0)
        assert "is not on the public internet" in await site.fault(id)


@on_both
@pytest.mark.slow
async def test_ten_tries_in_75_hours_then_it_is_off_and_a_replay_goes_on(site, receiver, alice, bob, clock, caplog):
    id = await site.add(receiver)
    number = (await post(site.store, alice)).number
    receiver.answer = checking.body(b"", 503)
    began, tries = clock.now, []  # the seconds after which the message was tried
    while await site.off_at(id) is None:
        await site.send()
        tries += [(clock.now - began) / 1000] * (len(receiver.refused) - len(tries))
        clock.advance(max(FIRST_PAUSE, (clock.now - began) / 1000 * 0.02))

    hours = [5 / HOUR, 5 / 60, 0.5, 2, 5, 10, 14, 20, 24]  # the pauses between ten tries
    assert len(tries) == 10
    for (earlier, later), pause in zip(pairwise(tries), hours, strict=True):
        # a pause may be a tenth longer, and the clock advances in the steps above
        assert pause * HOUR <= later - earlier <= 1.1 * pause * HOUR + 6 + later * 0.03
    (logged,) = [each.getMessage() for each in caplog.records if each.levelno == logging.ERROR]
    assert f"webhook {id} is off: a message has failed 10 times, at last with: status 503" in logged

    off_at = await site.off_at(id)
    await site.store.articles.vote(number, bob, Vote.UP)
    await site.send()
    clock.now = off_at + 7 * DAY * 1000 - 1000
    await site.store.articles.edit(number, alice, {"title": "edited"})
    await site.send()
    assert (len(receiver.refused), await site.waiting()) == (10, 3)

    receiver.answer = checking.nothing
    assert await site.database.write(webhooks.replay, id, clock.now)
    await site.send()
    assert receiver.kinds == ["posted", "voted", "edited"]
    assert (await site.off_at(id), await site.fault(id)) == (None, None)


async def test_what_is_older_than_a_week_is_dropped_of_a_webhook_that_is_off(store, database, receiver, alice, clock):
    async with sending(store, database) as site:
        id = await site.add(receiver)
        await post(store, alice)
        receiver.answer = checking.body(b"", 410)
        await site.send()
        clock.advance(DAY)
        second = (await post(store, alice)).number
        await site.send()
        clock.advance(6.5 * DAY)
        await site.send()

        receiver.answer = checking.nothing
        await database.write(webhooks.replay, id, clock.now)
        await site.send()
        assert [each["data"]["subjectId"] for each in receiver.taken if each["type"] == "posted"] == [
            f"article:{second}"
        ]


async def test_410_switches_off_at_once(store, database, receiver, alice, clock, caplog):
    async with sending(store, database) as site:
        id = await site.add(receiver, ["posted"])
        receiver.answer = checking.body(b"", 410)
        await post(store, alice)
        await site.send()
        await post(store, alice)
        clock.advance(DAY)
        await site.send()

        assert (len(receiver.refused), await site.waiting()) == (1, 2)
        assert "410" in await site.fault(id)
        assert [each.levelno for each in caplog.records if "is off" in each.getMessage()] == [logging.ERROR]


@pytest.mark.slow
async def test_receiver_that_is_away_for_three_days_misses_nothing_and_delays_no_other(
    store, database, receiver, alice, clock
):  # U8
    with receiving() as other:
        receiver.answer = checking.body(b"", 502)
        async with sending(store, database) as site:
            id = await site.add(receiver, ["posted"])
            await site.add(other, ["posted"])
            posted = []
            for _ in range(72):
                posted.append((await post(store, alice)).id)
                await site.send()
                assert other.taken[-1]["data"]["subjectId"] == posted[-1]
                clock.advance(HOUR)
            assert await site.off_at(id) is None
            assert len(receiver.refused) < 150  # 72 messages with up to nine tries each would be 600

            receiver.answer = checking.nothing
            await site.send()
            assert len(receiver.taken) >= 69  # the last ones wait for their next try
            clock.advance(27 * HOUR)  # more than the longest pause, 24 hours and a tenth
            await site.send()

        assert sorted(each["data"]["subjectId"] for each in without_repeats(receiver.taken)) == sorted(posted)
        assert (await site.waiting(), receiver.forged) == (0, 0)


async def test_slow_receivers_take_no_turns_from_others(store, database, alice):  # U8
    """Three receivers do not answer: a fourth gets all its messages meanwhile, and at most 8 are sent at once."""
    with receiving() as slow, receiving() as quick:
        slow.answer = checking.wait
        async with sending(store, database) as site:
            for _ in range(3):
                await site.add(slow, ["posted"])
            await site.add(quick, ["posted"])
            for _ in range(30):
                await post(store, alice)
            await site.process.turn()
            await until(lambda: len(quick.taken) == 30)

            assert 3 <= slow.most_at_once <= 8
