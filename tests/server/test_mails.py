"""
Mails as they leave: to a real mail server, from a store whose clock the test sets.

Codes such as U5 name rows of docs/behaviours.md.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from time import sleep

import pytest

from server.mails.sender import MailRates
from server.mails.smtp import Unavailable
from store import article_moderation, bans, mailboxes, mails, roles
from store.articles import Draft
from store.errors import BadToken, Invalid
from store.mailboxes import MailFrequency
from store.records import Position
from store.sessions import parse_token
from store.store import Store
from tests.conftest import Clock
from tests.server.mailing import TIME_LIMIT, Mailer, MailServer, mail_server, mailer

PASSWORD = "correct horse"
ADDRESS = "alice@example.com"
MINUTE, HOUR, DAY = 60, 3_600, 86_400  # seconds

pytestmark = pytest.mark.one_server  # not run on a cluster of Valkey servers


@pytest.fixture
async def store(redis_url: str, partitions: int, clock: Clock) -> AsyncIterator[Store]:
    store = await Store.open(redis_url, partitions=partitions, clock=clock, offers_mail=True)
    yield store
    await store.close()


@pytest.fixture
def smtp() -> Iterator[MailServer]:
    with mail_server() as server:
        yield server


@pytest.fixture
async def outbox(store: Store, smtp: MailServer) -> AsyncIterator[Mailer]:
    """Sends to `smtp` the mails of the store that are due, when a test says so."""
    async with mailer(store, smtp.url) as mailing:
        yield mailing


@pytest.fixture
async def alice(store: Store, smtp: MailServer, outbox: Mailer) -> str:
    """The token of a session of alice, who has confirmed her address."""
    token = (await store.users.register("Alice", PASSWORD)).token
    await confirm(store, smtp, outbox, "Alice", ADDRESS)
    return token


def session(token: str):
    found = parse_token(token)
    assert found
    return found


async def confirm(store, smtp, outbox, username, address):
    """Give a user an address, and confirm it by the link that is mailed."""
    await store.mailboxes.set_first(username, address)
    await outbox.turn()
    (mail,) = [each for each in smtp.taken() if each.to == address]
    await store.mailboxes.confirm(*mail.links["confirm"])


async def replies(store, username, often):
    """Choose how often a user gets mails of replies."""
    await store.mailboxes._edit(username, change="keep", email="", replies=often)


async def answered(store, by="bob", text="a *text* with <b> & \n.dots"):
    """An article of alice with a comment of somebody."""
    article = (
        await store.articles.post("Alice", Draft("Redis in Action", content="text", groups=()), idempotency_key="key")
    ).article
    return (await store.comments.post(article.number, parent=None, poster=by, content=text)).comment


async def test_address_counts_once_it_is_confirmed(store, smtp, outbox):  # U5
    token = (await store.users.register("Alice", PASSWORD)).token
    assert await store.mailboxes.edit(session(token), ADDRESS, password=PASSWORD) == "Alice"
    assert (await store.mailboxes.get("alice")).email is None
    await outbox.turn()

    (mail,) = smtp.taken()
    assert (mail.to, mail.message["From"], mail.message["Auto-Submitted"]) == (
        ADDRESS,
        "Upvote <noreply@up.example>",
        "auto-generated",
    )
    (link,) = mail.links["confirm"]
    assert f"/confirm#{link}" in mail.html and "List-Unsubscribe" not in mail.message
    assert await store.mailboxes.confirm(link) == "Alice"
    found = await store.mailboxes.get("alice")
    assert (found.email, found.pending) == (ADDRESS, None)
    with pytest.raises(BadToken):
        await store.mailboxes.confirm(link)


async def test_old_address_stays_and_is_told_until_the_new_one_is_confirmed(store, smtp, outbox, alice):  # U5
    await store.mailboxes.edit(session(alice), "new@example.com", password=PASSWORD)
    await outbox.turn()
    notice, new = sorted(smtp.taken(), key=lambda mail: mail.to)

    assert (notice.to, new.to) == (ADDRESS, "new@example.com")
    assert "Another address was given" in notice.text and "new@example.com" not in notice.text
    known = await store.mailboxes.get("alice")
    assert (known.email, known.pending) == (ADDRESS, "new@example.com")

    await store.mailboxes.edit(session(alice), email=None, password=PASSWORD)
    await outbox.turn()
    (notice,) = smtp.taken()
    assert notice.to == ADDRESS and "was removed" in notice.text
    with pytest.raises(BadToken):
        await store.mailboxes.confirm(*new.links["confirm"])
    assert (await store.mailboxes.get("alice")).email is None
    assert await store.mailboxes.with_address(mailboxes.digest(ADDRESS)) == []


async def test_link_that_stands_in_for_a_password_goes_to_the_confirmed_address_only(store, smtp, outbox):
    await store.users.create("Ada")
    token = (await store.sessions.open("Ada")).token
    await confirm(store, smtp, outbox, "Ada", ADDRESS)
    await store.mailboxes.set_first("Ada", "new@example.com")
    await outbox.turn()
    smtp.taken()  # leaves out the mail that confirms the new address
    await mails.ask_for_identity(store.site, "Ada")
    await outbox.turn()

    (mail,) = smtp.taken()
    assert (mail.to, mail.links.keys()) == (ADDRESS, {"settings"})
    (link,) = mail.links["settings"]
    assert f"/settings#{link}" in mail.html and "Ada" in mail.text
    assert (await store.users.delete(session(token), current=None, removes_texts=False, token=link)).name == "Ada"


async def test_reset_lists_all_accounts_of_an_address(store, smtp, outbox, alice):  # U5
    for name in ("bob", "carol"):
        await store.users.register(name, PASSWORD)
        await confirm(store, smtp, outbox, name, ADDRESS.upper())
    await store.site.redis.run(("HDEL", f"user:{{{store.site.partition_of_user('carol')}}}:carol", "password"))
    for asked in ("alice@EXAMPLE.com", "bob", "nobody", "nobody@example.com", "no name"):
        await mails.ask_for_reset(store.site, asked)
    await outbox.turn()

    one, several = sorted(smtp.taken(), key=lambda mail: len(mail.text))
    assert {one.to.lower(), several.to.lower()} == {ADDRESS}
    assert len(one.links["reset"]) == 1 and "for bob" in one.text
    assert len(several.links["reset"]) == 2 and "carol has no password: log in as you did before" in several.text
    assert outbox.results[-5:].count("dropped") == 3


async def test_answer_is_mailed_after_two_minutes_unless_it_was_seen(store, smtp, outbox, alice, clock):
    await store.users.register("bob", PASSWORD)
    await replies(store, "Alice", MailFrequency.AT_ONCE)
    comment = await answered(store)
    clock.advance(2 * MINUTE - 1)
    await outbox.turn()
    assert smtp.taken() == []
    clock.advance(1)
    await outbox.turn()

    (mail,) = smtp.taken()
    assert mail.message["Subject"] == "bob wrote to you in “Redis in Action”"
    assert f"/comment/{comment.number}" in mail.text and "with <b> & \r\n  .dots\r\n" in mail.text
    assert "&lt;b&gt; &amp;" in mail.html and "<b> &" not in mail.html
    await outbox.turn()
    assert smtp.taken() == []

    second = (await store.comments.post(comment.article, parent=None, poster="bob", content="again")).comment
    await store.inboxes.mark_seen("Alice", Position(float(clock.now), f"{second.number:016d}"))
    clock.advance(HOUR)
    await outbox.turn()
    assert smtp.taken() == []


@pytest.mark.parametrize(
    ("often", "sent"), [(MailFrequency.DAILY, "2016-08-05T07:00"), (MailFrequency.WEEKLY, "2016-08-08T07:00")]
)
async def test_digest_is_mailed_in_the_morning(store, smtp, outbox, alice, clock, often, sent):
    await replies(store, "Alice", often)
    for name in ("bob", "carol"):
        await store.users.register(name, PASSWORD)
    comment = await answered(store)
    await store.comments.post(comment.article, parent=None, poster="carol", content="another")
    while not (found := smtp.taken()):
        clock.advance(30 * MINUTE)
        await outbox.turn()

    (mail,) = found
    assert sent <= datetime.fromtimestamp(clock.now / 1000, UTC).isoformat()[:16] < sent[:-2] + "30"
    assert mail.message["Subject"] == "2 new notifications at Upvote"
    assert "bob wrote" in mail.text and "carol wrote" in mail.text


async def test_mail_of_replies_ends_with_one_click(store, smtp, outbox, alice, clock):
    await replies(store, "Alice", MailFrequency.AT_ONCE)
    await store.users.register("bob", PASSWORD)
    comment = await answered(store)
    clock.advance(HOUR)
    await outbox.turn()
    (mail,) = smtp.taken()
    (token,) = mail.links["unsubscribe"]

    written = dict(mail.message.raw_items())  # undecoded: mail programs decode no encoded words here
    assert written["List-Unsubscribe"] == f"<https://up.example/unsubscribe/{token}>"
    assert mail.message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    for wrong in (token[:-1], token.replace("alice", "bob"), "alice", "alice.", ""):
        assert not await store.mailboxes.end_replies(wrong)
    await store.comments.post(comment.article, parent=None, poster="bob", content="again")
    assert await store.mailboxes.end_replies(token)
    assert (await store.mailboxes.get("alice")).replies is MailFrequency.NEVER
    clock.advance(HOUR)
    await outbox.turn()
    assert smtp.taken() == []


async def test_nothing_is_mailed_to_banned_and_unconfirmed_users(store, smtp, outbox, alice, clock):
    await replies(store, "Alice", MailFrequency.AT_ONCE)
    await store.users.register("bob", PASSWORD)
    await store.mailboxes.set_first("bob", "bob@example.com")
    await outbox.turn()
    smtp.taken()  # leaves out the mail that confirms the address
    await replies(store, "bob", MailFrequency.AT_ONCE)
    await answered(store, text="@bob look")
    await bans.ban(store.site, roles.OPERATOR, "alice", group=None, until=None, reason="noise")
    for asked in ("alice", ADDRESS, "bob", "bob@example.com"):
        await mails.ask_for_reset(store.site, asked)
    clock.advance(HOUR)
    await outbox.turn()

    assert smtp.taken() == []
    assert (await mails.backlog(store.site)).count == 0


async def test_refused_recipient_is_marked_and_tried_no_more(store, smtp, outbox, alice):
    smtp.on_recipient = lambda address: f"550 5.1.1 no such user <{address}>"
    await mails.ask_for_reset(store.site, "alice")
    await outbox.turn()
    known = await store.mailboxes.get("alice")
    assert (known.usable, known.is_refused, outbox.results[-1]) == (None, True, "refused")

    smtp.on_recipient = lambda address: None
    await mails.ask_for_reset(store.site, "alice")
    await outbox.turn()
    assert smtp.taken() == []
    await store.mailboxes.edit(session(alice), ADDRESS)
    await mails.ask_for_reset(store.site, "alice")
    await outbox.turn()
    assert len(smtp.taken()) == 1


async def test_deferred_mail_is_tried_for_a_day(store, smtp, outbox, alice, clock, caplog):
    smtp.on_recipient = lambda address: "451 4.7.1 greylisted"
    await mails.ask_for_reset(store.site, "alice")
    for _ in range(26 * 60):  # minutes
        await outbox.turn()
        clock.advance(MINUTE)

    assert smtp.taken() == []
    # The mail that confirmed the address; then five tries in the first hour, and one in each hour of the day.
    assert len(smtp.offered) == 1 + 5 + 24
    assert (await mails.backlog(store.site)).count == 0
    assert caplog.messages == [
        "the mail server has put off a mail reset: it has answered 451",
        "a mail reset was not sent within a day",
    ]


async def test_mails_go_on_as_soon_as_the_mail_server_is_back(store, outbox, alice, clock):
    await outbox.work.close()  # which gives up the lease: only one process sends mails
    server = MailServer()
    async with mailer(store, server.url) as mailing:
        await mails.ask_for_reset(store.site, "alice")
        for _ in range(3 * 60):  # minutes
            with pytest.raises(Unavailable):
                await mailing.turn()
            clock.advance(MINUTE)
        with mail_server(server):
            await mailing.turn()
        assert len(server.taken()) == 1

        await mails.ask_for_reset(store.site, "alice")
        clock.advance(25 * HOUR)
        with pytest.raises(Unavailable):
            await mailing.turn()
        assert (await mails.backlog(store.site)).count == 0  # given up


async def test_recipient_to_whom_the_mail_server_says_nothing_holds_up_no_others(store, smtp, outbox, alice, clock):
    await store.users.register("bob", PASSWORD)
    await confirm(store, smtp, outbox, "bob", "bob@example.com")
    await mails.ask_for_reset(store.site, "alice")
    clock.advance(1)
    await mails.ask_for_reset(store.site, "bob")
    smtp.on_recipient = lambda address: sleep(TIME_LIMIT + 0.5) if address == ADDRESS else None
    with pytest.raises(Unavailable):
        await outbox.turn()
    await outbox.turn()

    assert [mail.to for mail in smtp.taken()] == ["bob@example.com"]


@pytest.mark.parametrize(("answer", "sent"), [("451 later", 1), ("554 spam", 0), ("", 1)])
async def test_mail_is_sent_once_whatever_the_answer_to_data(store, smtp, outbox, alice, clock, caplog, answer, sent):
    """ "" closes the connection: then the mail may have arrived, as it has here, and is not sent again."""
    smtp.on_data = lambda address: answer
    await replies(store, "Alice", MailFrequency.AT_ONCE)
    await store.users.register("bob", PASSWORD)
    await answered(store)
    clock.advance(HOUR)
    await outbox.turn()
    assert len(caplog.messages) == 1  # it says what has happened
    smtp.on_data = lambda address: None
    for _ in range(3):
        clock.advance(HOUR)
        await outbox.turn()

    assert len(smtp.taken()) == sent


async def test_silent_and_closed_servers_are_unavailable(store, outbox, alice, clock):
    await outbox.work.close()  # which gives up the lease: only one process sends mails
    await mails.ask_for_reset(store.site, "alice")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        async with mailer(store, f"smtp://127.0.0.1:{port}") as mailing:
            with pytest.raises(Unavailable, match="in time"):
                await mailing.turn()
    clock.advance(2 * MINUTE)
    async with mailer(store, f"smtp://127.0.0.1:{port}") as mailing:
        with pytest.raises(Unavailable, match="Connect call failed"):
            await mailing.turn()
    clock.advance(HOUR)
    with mail_server() as server:
        async with mailer(store, server.url) as mailing:
            await mailing.turn()
    assert len(server.taken()) == 1


async def test_limits_of_an_address_put_mails_off(store, smtp, clock, redis_url):
    async with mailer(store, smtp.url, MailRates(an_hour=3, a_day=10, of_site=1_000)) as mailing:
        await store.users.register("Alice", PASSWORD)
        await confirm(store, smtp, mailing, "Alice", ADDRESS)
        await replies(store, "Alice", MailFrequency.AT_ONCE)
        await store.users.register("bob", PASSWORD)
        comment = await answered(store)
        for number in range(4):
            clock.advance(3 * MINUTE)
            await mailing.turn()
            await store.comments.post(comment.article, parent=None, poster="bob", content=f"text {number}")
        assert len(smtp.taken()) == 1  # of 3: one has confirmed the address, one is kept for what an account needs
        await mails.ask_for_reset(store.site, "alice")
        await mailing.turn()
        (mail,) = smtp.taken()
        assert "reset" in mail.links
        for _ in range(40):
            clock.advance(HOUR)
            await mails.ask_for_reset(store.site, "alice")
            await mailing.turn()
        assert len(smtp.taken()) <= 20  # of two days
        assert "limited" in mailing.results


async def test_daily_bound_of_the_site_puts_mails_off(store, smtp, clock):
    async with mailer(store, smtp.url, MailRates(an_hour=100, a_day=100, of_site=2)) as mailing:
        for name in ("alice", "bobby", "carol"):
            await store.users.register(name, PASSWORD)
            await store.mailboxes.set_first(name, f"{name}@example.com")
        await mailing.turn()
        assert len(smtp.taken()) == 2
        clock.advance(DAY - 10)
        await mailing.turn()
        assert smtp.taken() == []
        clock.advance(11)
        await mailing.turn()
        assert len(smtp.taken()) == 1


async def test_line_breaks_begin_no_header(store, smtp, outbox, alice, clock):
    for address in ("a@b.example\r\nBcc: eve@example.com", "a\n@b.example", "a@b.example\0", "a@b", "a b@c.example"):
        with pytest.raises(Invalid):
            await store.mailboxes.edit(session(alice), address, password=PASSWORD)
    await replies(store, "Alice", MailFrequency.AT_ONCE)
    await store.users.register("bob", PASSWORD)
    comment = await answered(store)
    partition = store.site.partition_of_user("Alice")
    title = "A title\r\nBcc: eve@example.com\r\n\r\nA body"
    await store.site.redis.run(("HSET", f"article:{{{partition}}}:{comment.article}", "title", title))
    clock.advance(HOUR)
    await outbox.turn()

    (mail,) = smtp.taken()
    assert "Bcc" not in mail.message and mail.to == ADDRESS
    assert mail.message["Subject"] == "bob wrote to you in “A title Bcc: eve@example.com A body”"


async def test_two_processes_send_each_mail_once(store, smtp, alice, clock):
    """The second one has taken the lease over from the first, which does not know it yet."""
    for _ in range(20):
        await mails.ask_for_reset(store.site, "alice")
    async with mailer(store, smtp.url) as one, mailer(store, smtp.url) as other:
        found = await mails.due(store.site, 50)
        await asyncio.gather(*(each.work._sender.send(waiting) for each in (one, other) for waiting in found))
    assert len(smtp.taken()) == 1


async def test_no_address_in_the_keys_of_resets(store, alice):
    await mails.ask_for_reset(store.site, ADDRESS)

    (waiting,) = await mails.due(store.site, 10)
    assert waiting.subject == mailboxes.digest(ADDRESS) and waiting.fields == {}
    assert replace(waiting, due=0).since == 0  # without fields that say more, it waits since it is due


async def test_mails_are_in_the_language_of_the_site(store, smtp, clock):
    token = (await store.users.register("Alice", PASSWORD)).token
    for name in ("bob", "carol"):
        await store.users.register(name, PASSWORD)
    async with mailer(store, smtp.url, language="de") as outbox:
        await confirm(store, smtp, outbox, "Alice", ADDRESS)
        await replies(store, "Alice", MailFrequency.AT_ONCE)
        comment = await answered(store)
        clock.advance(2 * MINUTE)
        await outbox.turn()
        (one,) = smtp.taken()
        await store.comments.post(comment.article, parent=None, poster="carol", content="another")
        await article_moderation.lock(store.site, roles.OPERATOR, comment.article, group=None, reason="Heated")
        clock.advance(DAY)
        await outbox.turn()
        (several,) = smtp.taken()
        await store.mailboxes.edit(session(token), "new@example.com", password=PASSWORD)
        await mails.ask_for_reset(store.site, "alice")
        await outbox.turn()
        rest = smtp.taken()

    assert one.message["Subject"] == "Antwort von bob in „Redis in Action“"
    assert "Diese Mail geht an Alice." in one.text and "Keine solchen Mails mehr" in one.html
    assert several.message["Subject"] == "2 neue Nachrichten bei Upvote"
    assert "Die Moderation hat" in several.text and '<html lang="de" dir="ltr">' in several.html
    assert {each.message["Subject"] for each in rest} == {
        "Adresse für Upvote bestätigen",
        "Die Adresse bei Upvote soll sich ändern",
        "Das Passwort bei Upvote",
    }
    assert [each for each in [one, several, *rest] if " the " in each.text + each.html] == []
