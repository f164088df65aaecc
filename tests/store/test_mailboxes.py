"""
Mail addresses of users and the queue of mails in the store: what is left when a user is deleted, what `verify` finds,
and what a backup and a move to another server have.

Codes such as U6 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import pytest

from store import leaving, mailboxes, mails
from store.articles import Draft
from store.mailboxes import MailFrequency
from store.maintenance import dump
from store.maintenance.records.record import Record
from store.one_time_tokens import Purpose, issue
from store.store import Store
from tests.store.reading import verified
from tests.support.memory import full

pytestmark = pytest.mark.many_partitions

ADDRESS = "alice@example.com"


async def confirm(store: Store, username: str, address: str = ADDRESS) -> None:
    """Give a user an address, and confirm it by the token that is mailed there."""
    await store.mailboxes.set_first(username, address)
    await store.mailboxes.confirm((await issue(store.site, username, Purpose.CONFIRM, address)).text)


@pytest.fixture
async def mailed(store, alice, bob):
    """Alice and bob have the same address; a notice and a reset wait for alice, and a reset for the address."""
    await confirm(store, "Alice")
    await confirm(store, "bob", ADDRESS.upper())
    await store.mailboxes.set_first("Alice", "new@example.com")
    for asked in ("alice", ADDRESS):
        await mails.ask_for_reset(store.site, asked)
    return store


async def test_nothing_of_a_user_who_leaves_is_kept_or_queued(mailed, redis):  # U6
    await leaving.begin(mailed.site, "Alice", password_hash="", removes_texts=False)

    assert await mailed.mailboxes.get("alice") == mailboxes.UserMailbox()
    assert await mailed.mailboxes.with_address(mailboxes.digest(ADDRESS)) == ["bob"]
    assert await mails.of_user(mailed.site, "alice") == []
    found = [key for key in redis.scan_iter("mail*") if "alice" in key]
    assert found == []


async def test_address_that_changes_is_found_by_the_new_one_only(mailed):
    token = await issue(mailed.site, "Alice", Purpose.CONFIRM, "new@example.com")
    await mailed.mailboxes.confirm(token.text)

    assert await mailed.mailboxes.with_address(mailboxes.digest(ADDRESS)) == ["bob"]
    assert await mailed.mailboxes.with_address(mailboxes.digest("NEW@example.com")) == ["alice"]


async def test_verify_repairs_names_by_address_and_mails_out_of_the_queue(mailed):
    site = mailed.site
    partition, digest = site.partition_of_user("alice"), mailboxes.digest(ADDRESS)
    await site.redis.run(("SREM", mailboxes.addressed(partition, digest), "alice"))
    await site.redis.run(("SADD", mailboxes.addressed(partition, mailboxes.digest("x@example.com")), "alice"))
    await site.redis.run(("ZREM", mails.mailing(partition), "alice:change"))
    await site.redis.run(("ZADD", mails.mailing(partition), 1, "alice:nonsense"))

    assert len(await verified(mailed, repair=True)) == 4
    assert await verified(mailed) == []
    assert await mailed.mailboxes.with_address(digest) == ["alice", "bob"]
    assert "change" in [each.what for each in await mails.of_user(site, "alice")]


async def records(store: Store, *, is_move: bool) -> list[Record]:
    """All records of a store, as a backup or a move has them."""
    found = dump.records_of(store.site, progress=lambda count: None, on_skipped=lambda key: None, is_move=is_move)
    return [record async for some in found for record in some]


async def test_backup_has_addresses_and_only_a_move_the_mails_that_wait(mailed):
    kept = [each.kind for each in await records(mailed, is_move=False)]
    moved = [each.kind for each in await records(mailed, is_move=True)]

    assert (kept.count("mailbox"), kept.count("mailing")) == (2, 0)
    assert (moved.count("mailbox"), moved.count("mailing")) == (2, 4)


async def test_mail_is_taken_once_and_not_after_it_was_put_off(mailed):
    """A mail is taken by its state when it was read. `about` are the notifications or addresses that it is about."""
    (first, *_) = await mails.due(mailed.site, 10)
    await mails.put_off(mailed.site, first, mailed.site.clock() + 60_000)

    assert not await mails.take(mailed.site, first, about=list(first.about))
    (second, *_) = await mails.due(mailed.site, 10)
    assert await mails.take(mailed.site, second, about=list(second.about))
    assert not await mails.take(mailed.site, second, about=list(second.about))


async def test_frequency_moves_the_mail_that_waits(store, alice, bob, clock):
    await confirm(store, "Alice")
    await store.mailboxes._edit("Alice", change="keep", email="", replies=MailFrequency.WEEKLY)
    posted = await store.articles.post("bob", Draft("a title", content="@alice", groups=()), "key")
    assert posted.article
    due = []
    for often in (MailFrequency.WEEKLY, MailFrequency.DAILY, MailFrequency.AT_ONCE, MailFrequency.NEVER):
        await store.mailboxes._edit("Alice", change="keep", email="", replies=often)
        due.append([round((each.due - clock.now) / 60_000) for each in await mails.of_user(store.site, "alice")])

    assert due == [[5_468], [1_148], [2], []]  # minutes from Thursday, 11:52: to Monday and Friday, 7:00, and two


@pytest.mark.one_server
async def test_mail_leaves_the_queue_of_a_full_store(mailed, redis):  # D6
    waiting = await mails.due(mailed.site, 10)
    with full(redis):
        assert [await mails.take(mailed.site, mail, about=list(mail.about)) for mail in waiting] == [True] * len(
            waiting
        )

    assert waiting and await mails.due(mailed.site, 10) == []
