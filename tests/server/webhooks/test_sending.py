"""
Webhooks: what receivers are sent, in which order, and what becomes of messages that they do not take.

`sending` gives a store, its database and a process that sends webhooks; the fixture `receiver` keeps what it accepts in
`taken`. `on_both` runs a test with SQLite and with PostgreSQL. Codes such as U8 name rows of docs/behaviours.md.
"""

import asyncio
import random
from collections import Counter, defaultdict
from itertools import chain

import pytest

from database import webhooks
from database.database import Database, DatabaseUnavailable
from resolvers.changes import Change
from server.webhooks import sender
from server.webhooks.messages import SENT_KINDS, VOTERS, VOTES
from server.webhooks.running import LEASE_TIME
from store import flags, keys, log, roles
from store.articles import Draft
from store.moderation_records import Role
from store.records import Vote
from store.roles import OPERATOR
from tests.database.conftest import on_both, rebuilt
from tests.database.histories import History
from tests.server import checking
from tests.server.webhooks.receiving import DAY, HOUR, about, firsts, place, receiving, sending
from tests.store.discussions import commented
from tests.store.reading import post


@on_both
@pytest.mark.slow
async def test_all_changes_arrive_signed_and_in_order_for_each_subject(
    store, clock, each_database, database_url, receiver, monkeypatch
):  # U8
    """Two processes take turns, one of them ends in the middle of everything, and the receiver fails at random."""
    chance, second = random.Random(random.randrange(10**6)), Database(database_url)
    await second.open()
    monkeypatch.setattr(sender, "TIME_LIMIT", 0.5)
    answers = [checking.hang_up, checking.body(b"", 500), checking.speak_nonsense, checking.nothing, checking.nothing]
    receiver.choose = lambda: chance.choice(answers)
    history = History(store, clock, chance)
    async with sending(store, each_database) as site:
        await site.add(receiver)
    for _ in range(6):
        await history.run(25)
        async with sending(store, chance.choice([each_database, second])) as killed, sending(store, second) as other:
            for _ in range(4):
                await asyncio.gather(killed.process.turn(), other.process.turn())
                await asyncio.sleep(0.01)
        clock.advance(HOUR)
    receiver.choose = lambda: checking.nothing
    async with sending(store, second) as site:
        while await site.waiting():
            clock.advance(HOUR)
            await site.send()
    await second.close()

    every = firsts(receiver.taken)
    assert receiver.forged == 0
    assert {each["id"] for each in every} >= {each["id"] for each in receiver.refused}
    expected = Counter(map(shown, await sent_entries(store)))
    arrived = Counter((each["type"], each["data"]["subjectId"], text_of(each["data"]["fields"])) for each in every)
    assert expected - arrived == Counter()
    assert all(subject.startswith(("article:", "comment:")) for _, subject, _ in arrived - expected)  # deleted later
    places = defaultdict(list)
    for each in every:
        places[each["data"]["subjectId"]].append(place(each))
    assert all(found == sorted(found) for found in places.values())


async def sent_entries(store) -> list[Change]:
    """The changes in the log, of all partitions, that webhooks send."""
    entries = [
        entry
        for partition in range(store.site.partitions)
        for entry in await log.read(store.site, partition=partition, after=log.START, count=10**6)
    ]
    return [Change(entry, position=None) for entry in entries if entry.kind in SENT_KINDS]


def shown(change: Change) -> tuple[str, str, str]:
    """The kind, the subject and the fields of a change, to be compared with those of a message."""
    fields = [field._asdict() for field in change.fields if field.name not in VOTERS]
    return change.kind, change.subject_id, text_of(fields)


def text_of(fields: list[dict[str, str]]) -> str:
    return repr(sorted(each.items() for each in fields))


@on_both
async def test_message_is_a_change_and_does_not_say_who_voted(site, receiver, alice, bob, clock):  # U8
    await site.add(receiver)
    number = (await post(site.store, alice)).number
    await site.store.articles.vote(number, bob, Vote.DOWN)
    comment = await commented(site.store, number, bob)
    await site.store.comments.vote(comment.number, alice, Vote.UP)
    await roles.grant(site.store.site, OPERATOR, alice, Role.ADMIN, group=None, reason="helps")
    await flags.flag(site.store.site, bob, "article", number, flags.FlagReason.SPAM, "a note for moderators")
    await site.send()

    by_kind = {each["type"]: each for each in receiver.taken}
    posted, voted = by_kind["posted"], by_kind["voted"]
    assert posted == {
        "type": "posted",
        "timestamp": "2016-08-04T11:52:00.000Z",
        "id": posted["data"]["cursor"],
        "data": {
            "cursor": posted["data"]["cursor"],
            "at": "2016-08-04T11:52:00.000Z",
            "kind": "posted",
            "subjectId": f"article:{number}",
            "actorId": "user:alice",
            "fields": posted["data"]["fields"],
        },
    }
    assert {"name": "title", "value": "a title"} in posted["data"]["fields"]
    assert [by_kind[kind]["data"]["actorId"] for kind in sorted(VOTES)] == [None, None]
    assert {"name": "down", "value": "1"} in voted["data"]["fields"]
    assert not {each["name"] for message in receiver.taken for each in message["data"]["fields"]} & VOTERS
    assert "flagged" not in by_kind and "moderated" in by_kind
    assert "a note" not in repr(receiver.taken)
    assert (receiver.forged, await site.waiting()) == (0, 0)


async def test_only_kinds_that_were_asked_for_are_sent(site, receiver, alice, bob):
    with receiving() as other:
        await site.add(receiver, ["posted"])
        await site.add(other, ["commented", "voted"])
        number = (await post(site.store, alice)).number
        await commented(site.store, number, bob)
        await site.store.articles.vote(number, bob, Vote.UP)
        await site.send()

        assert (receiver.kinds, sorted(other.kinds)) == (["posted"], ["commented", "voted"])


@on_both
async def test_what_was_deleted_meanwhile_is_sent_without_texts(site, receiver, alice, bob, clock):  # U8
    await site.add(receiver)
    receiver.answer = checking.body(b"", 500)
    secret, kept = [
        (await site.store.articles.post(alice, Draft(title, content=f"{title} text"))).article.number
        for title in ("secret", "kept")
    ]
    comment = await commented(site.store, kept, bob, text="secret answer")
    await site.send()
    await site.store.articles.edit(secret, alice, {"title": "secret again"})
    await site.store.comments.delete(comment.number, bob)
    await site.send()
    await site.store.articles.delete(secret, alice)
    await site.send()
    receiver.answer = checking.nothing
    for _ in range(3):
        clock.advance(2 * HOUR)
        await site.send()

    assert "secret" not in repr(receiver.taken)
    assert [each["type"] for each in about(receiver, secret)][::2] == ["posted", "deleted"]
    assert "kept text" in repr(about(receiver, kept))
    assert {"commented", "comment_deleted"} <= set(receiver.kinds)


@on_both
async def test_deleted_users_are_named_by_their_pseudonyms_in_what_waits(site, receiver, alice, bob, clock):
    """The entry is written here as the script of a deletion writes it."""
    await site.add(receiver)
    receiver.answer = checking.body(b"", 500)
    own, other = await post(site.store, alice), await post(site.store, bob)
    await commented(site.store, other.number, alice, text="my answer, bob")
    await commented(site.store, own.number, bob, text="alice, look")
    await site.send()
    fields = {"actor": "", "subject": "user:alice", "name": "Alice", "pseudonym": "~k3x", "entries": ""}
    entry = {"kind": "user_deleted", "at": str(clock.now), **fields}
    partition = site.store.site.partition_of_user(alice)
    await site.store.site.redis.run(("XADD", keys.log(partition), "*", *chain.from_iterable(entry.items())))
    await site.send()
    receiver.answer = checking.nothing
    for _ in range(3):
        clock.advance(2 * HOUR)
        await site.send()

    sent = [each["data"] for each in receiver.taken if each["type"] != "user_deleted"]
    assert [each for each in sent if "alice" in repr(each).lower() and "alice, look" not in repr(each)] == []
    assert "my answer" not in repr(sent)
    (posted,) = about(receiver, own.number)
    assert posted["data"]["actorId"] == "user:~k3x"
    assert {"name": "content", "value": "alice, look"} in next(
        each["fields"] for each in sent if each["kind"] == "commented" and each["actorId"] == "user:bob"
    )
    assert await site.waiting() == 0


async def test_both_secrets_sign_after_a_rotation_until_the_old_one_ends(store, database, receiver, alice, clock):
    async with sending(store, database) as site:
        id = await site.add(receiver)
        old, new = receiver.secrets[0], "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
        await database.write(webhooks.rotate, id, new, clock.now + DAY * 1000)
        for secret in (old, new):
            receiver.secrets = [secret]
            await post(store, alice)
            await site.send()
        assert (receiver.kinds.count("posted"), receiver.forged) == (2, 0)

        clock.advance(DAY)
        for secret in (old, new):
            receiver.secrets = [secret]
            await post(store, alice)
            await site.send()
        assert (receiver.kinds.count("posted"), receiver.forged) == (3, 1)


@on_both
async def test_rebuild_keeps_webhooks_and_what_waits(site, receiver, alice, each_database):
    await site.add(receiver, ["posted"])
    receiver.answer = checking.body(b"", 500)
    await post(site.store, alice)
    await site.send()
    before = await each_database.run(webhooks.states), await each_database.run(webhooks.position)

    await rebuilt(site.store, each_database)

    assert (await each_database.run(webhooks.states), await each_database.run(webhooks.position)) == before


async def test_log_keeps_what_was_not_taken_and_forgets_removed_webhooks(store, database, receiver, alice, clock):
    async with sending(store, database) as site:
        id = await site.add(receiver, ["posted"])
        await site.send()
        taken = await log.newest(store.site)
        assert (await log.positions(store.site))["webhooks"] == dict(enumerate(taken))
        await post(store, alice)
        await asyncio.sleep(0.005)
        await log.trim(store.site, kept_ms=0, max_entries=10_000)
        await site.send()
        assert receiver.kinds == ["posted"]

        assert await database.write(webhooks.remove, id)
        await site.send()
        assert "webhooks" not in await log.positions(store.site)
        assert await database.run(webhooks.position) is None


async def test_gap_of_the_log_and_another_log_are_said_and_passed_over(store, database, receiver, alice, caplog):
    async with sending(store, database) as site:
        await site.add(receiver, ["posted"])
        await site.send()
        await post(store, alice)
        await asyncio.sleep(0.005)
        await log.trim(store.site, kept_ms=0, max_entries=0)
        site.process._spooler.reset()
        await post(store, alice)
        await site.send()
        assert receiver.kinds == ["posted"]
        assert "webhooks miss changes" in caplog.text

        await log.restart(store.site, partition=0)
        await post(store, alice)
        await site.send()
        assert receiver.kinds == ["posted"] * 2
        assert "webhooks go on at the beginning of the log" in caplog.text


@on_both
@pytest.mark.parametrize("cause", ["trimmed", "another log"])
async def test_what_waits_loses_its_texts_where_deletions_may_have_been_missed(
    site, receiver, alice, clock, cause, monkeypatch
):
    monkeypatch.setattr(webhooks, "CHANGED_AT_ONCE", 2)
    await site.add(receiver)
    receiver.answer = checking.body(b"", 500)
    numbers = [(await post(site.store, alice, title="secret")).number for _ in range(5)]
    await site.send()
    await site.store.articles.delete(numbers[0], alice)
    if cause == "trimmed":
        await asyncio.sleep(0.005)
        await log.trim(site.store.site, kept_ms=0, max_entries=0)
    else:
        await log.restart(site.store.site, partition=0)
    site.process._spooler.reset()
    receiver.refused.clear()
    receiver.answer = checking.nothing
    await site.send()
    clock.advance(2 * HOUR)
    await site.send()

    first_of_each = [about(receiver, number)[0] for number in numbers]
    assert [each["type"] for each in first_of_each] == ["posted"] * 5
    assert "secret" not in repr(first_of_each)


async def test_message_that_cannot_be_noted_as_sent_is_sent_again_but_not_at_once(
    store, database, receiver, alice, clock, monkeypatch
):
    async with sending(store, database) as site:
        await site.add(receiver, ["posted"])
        await post(store, alice)
        await site.process.turn()
        await site.process.sender.idle()
        write, failures = database.write, []

        async def fail_on_delivery(function, *arguments):
            if function is webhooks.delivered:
                failures.append(function)
                raise DatabaseUnavailable("the disk is full")
            return await write(function, *arguments)

        monkeypatch.setattr(database, "write", fail_on_delivery)
        await post(store, alice)
        for _ in range(3):
            await site.send()
        assert (len(receiver.taken), len(failures)) == (2, 1)

        monkeypatch.setattr(database, "write", write)
        clock.advance(61)  # longer than it waits after such a failure
        await site.send()
        assert [each["id"] for each in receiver.taken[1:]] == [receiver.taken[1]["id"]] * 2
        assert await site.waiting() == 0


@on_both
async def test_messages_end_with_their_webhook_and_other_webhooks_go_on(site, receiver, alice):
    with receiving() as other:
        first, second = await site.add(other, ["posted"]), await site.add(receiver, ["posted"])
        other.answer = checking.body(b"", 500)
        await post(site.store, alice)
        await site.send()
        assert await site.database.write(webhooks.remove, first)
        assert not await site.database.write(webhooks.remove, first)
        await post(site.store, alice)
        await site.send()

    assert (len(receiver.taken), await site.waiting()) == (2, 0)
    assert await site.add(receiver) > second


async def test_one_process_sends_and_another_takes_over(store, database, receiver, alice, redis):
    async with sending(store, database) as first, sending(store, database) as second:
        await first.add(receiver, ["posted"])
        await first.send()
        await post(store, alice)
        await second.send()
        assert receiver.taken == []
        redis.delete("lease:{0}:webhooks")  # as when the first process was stopped for longer than the lease lasts
        await second.send()
        await first.send()

        assert receiver.kinds == ["posted"]
        assert 0 < redis.pttl("lease:{0}:webhooks") <= LEASE_TIME
