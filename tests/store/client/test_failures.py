"""
Requests while Redis fails: its reply is lost, its memory is full, it is stopped or killed.

A command whose reply was lost is sent again. Scripts keep their answers for ten seconds, so that the second call does
not change anything more, and answers as the first one did. Here the store connects through a `proxy` that can lose
replies.

`verified` gives what `upvote verify` finds wrong in the store.

Codes such as A6 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Iterator, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from store import article_moderation, blocked, flags, hidden, kept_answers, keys, leases, listings, saved
from store.article_moderation import MODERATE_ARTICLE
from store.articles import DELETE, EDIT, REGROUP, VOTE, Draft
from store.blocked import BLOCK
from store.client import Command, client
from store.comments import DELETE_COMMENT, EDIT_COMMENT, VOTE_ON_COMMENT
from store.errors import NotFound, StoreUnavailable, Unauthenticated
from store.flags import FLAG, FlagReason
from store.follows import FOLLOW
from store.hidden import HIDE, hide, unhide
from store.leases import LEASE
from store.maintenance import reindex, verify
from store.maintenance.reindex import ACTIVATE_INDEXES
from store.ranking.formulas import Order
from store.records import Vote
from store.roles import OPERATOR
from store.saved import SAVE
from store.server_keys import SERVER_KEY
from store.sessions import END_SESSION, parse_token
from store.store import Store
from store.users import CHANGE_PASSWORD, CREATE_USER
from tests.conftest import Clock, registered
from tests.proxy import Proxy, counting
from tests.servers import PATIENCE, Server, running
from tests.store.discussions import commented
from tests.store.reading import article, everything, numbers, post, profile, verified

DRAFT = Draft("a title", "https://example.com/")


@pytest.fixture
async def proxy(redis_url: str, tmp_path: Path) -> AsyncIterator[Proxy]:
    async with counting(redis_url, tmp_path / "proxy.sock") as proxy:
        yield proxy


@pytest.fixture
async def store(proxy: Proxy, clock: Clock, partitions: int) -> AsyncIterator[Store]:
    """A store that is reached through the proxy."""
    store = await Store.open(proxy.url, partitions=partitions, clock=clock)
    yield store
    await store.close()


async def lost(proxy: Proxy, command: Awaitable[Any], request: str = "") -> Any:
    """
    The result of a command while the reply to its first request is lost, or to the first one that contains the text
    `request`, such as the digest of a script.
    """
    before = proxy.lost
    proxy.loses = request.encode()
    answer = await command
    assert proxy.lost == before + 1
    return answer


@pytest.mark.one_server
async def test_task_that_is_cancelled_while_it_repeats_a_command_ends(store, redis, monkeypatch):
    """
    A server that stops cancels its background tasks. Here this happens when the reply to a repeated command arrives: it
    is repeated because Redis did not know the script.
    """
    server, sends = store.site.redis._server, 0
    send = server.send

    async def send_and_cancel(commands: Sequence[Command]) -> list[Any]:
        nonlocal sends
        replies = await send(commands)
        sends += 1
        if sends == 2:
            task.cancel()
        return replies

    async def repeat() -> None:
        while True:
            await store.site.redis.run(LEASE.command([leases.lease(0, "test")], "holder", 1000))
            await asyncio.sleep(0.01)

    redis.script_flush()
    monkeypatch.setattr(server, "send", send_and_cancel)
    task = asyncio.create_task(repeat())
    await asyncio.wait([task], timeout=PATIENCE)

    assert task.cancelled() and sends == 2


@pytest.mark.one_server
async def test_post_whose_reply_was_lost_is_one_article(store, alice, redis, proxy):  # A6
    await post(store, alice)
    posted = await lost(proxy, store.articles.post(alice, DRAFT))

    assert not posted.replayed
    assert len(await numbers(store, listings.whole(store.site, Order.TIME))) == 2
    assert (await profile(store, alice)).karma == 0


@pytest.mark.one_server
async def test_double_click_after_a_lost_reply_is_a_replay(store, alice, proxy):  # A7
    first = await lost(proxy, store.articles.post(alice, DRAFT))
    double = await lost(proxy, store.articles.post(alice, DRAFT))

    assert (first.replayed, double.replayed, double.article) == (False, True, first.article)


@pytest.mark.one_server
async def test_post_with_a_key_whose_reply_was_lost_is_one_article(store, alice, proxy):  # A7
    posted = await lost(proxy, store.articles.post(alice, DRAFT, "a key"))
    again = await store.articles.post(alice, DRAFT, "a key")

    assert posted.article == again.article
    assert again.replayed


@pytest.mark.one_server
async def test_vote_whose_reply_was_lost_counts_once(store, alice, bob, proxy):  # V9
    number = (await post(store, alice)).number
    voted = await lost(proxy, store.articles.vote(number, bob, Vote.UP), VOTE.digest)

    assert (voted.article.votes, voted.changed) == (2, True)
    assert (await profile(store, alice)).karma == 1


@pytest.mark.one_server
async def test_vote_on_a_comment_whose_reply_was_lost_counts_once(store, alice, bob, proxy):
    comment = await commented(store, (await post(store, alice)).number, alice)
    voting = store.comments.vote(comment.number, bob, Vote.UP)
    voted = await lost(proxy, voting, VOTE_ON_COMMENT.digest)

    assert (voted.comment.votes, voted.changed) == (2, True)
    assert (await profile(store, alice)).karma == 1


@pytest.mark.one_server
async def test_kept_answer_to_a_vote_has_no_article(store, alice, bob):
    """The article is read again instead, so that kept answers stay short."""
    number = (await post(store, alice)).number
    partition = store.site.partition_of_article(number)
    command = store.site.command(VOTE, partition, number, 1, username=bob, bans="")  # 1: an upvote
    replies = [await store.site.redis.run(command) for _ in range(2)]

    assert [reply[:2] for reply in replies] == [["voted", bob]] * 2
    assert (replies[0][2] != [], replies[1][2]) == (True, [])


@pytest.mark.one_server
@pytest.mark.parametrize("of", ["follow", "group", "hide", "save", "block"])
async def test_change_of_a_list_whose_reply_was_lost_is_a_change(store, alice, bob, proxy, of):
    number = (await post(store, bob, groups=["show"])).number
    script, begin, end = {
        "follow": (FOLLOW, partial(store.follows.follow, alice, bob), partial(store.follows.unfollow, alice, bob)),
        "group": (
            FOLLOW,
            partial(store.follows.follow_group, alice, "show"),
            partial(store.follows.unfollow_group, alice, "show"),
        ),
        "hide": (HIDE, partial(hide, store.site, alice, number), partial(unhide, store.site, alice, number)),
        "save": (
            SAVE,
            partial(saved.save, store.site, alice, number),
            partial(saved.unsave, store.site, alice, number),
        ),
        "block": (
            BLOCK,
            partial(blocked.block, store.site, alice, bob),
            partial(blocked.unblock, store.site, alice, bob),
        ),
    }[of]

    changes = [(await lost(proxy, call(), script.digest)).changed for call in (begin, end)]
    again = [(await call()).changed for call in (end, begin, begin)]
    assert (changes, again) == ([True, True], [False, True, False])


@pytest.mark.one_server
async def test_deletions_whose_replies_were_lost_are_done(store, alice, proxy):
    number = (await post(store, alice)).number
    comment = await commented(store, number, alice)
    await lost(proxy, store.comments.delete(comment.number, alice), DELETE_COMMENT.digest)
    await lost(proxy, store.articles.delete(number, alice), DELETE.digest)

    assert await numbers(store, listings.whole(store.site, Order.TIME)) == []
    with pytest.raises(NotFound):
        await store.articles.delete(number, alice)
    assert await verified(store) == []


@pytest.mark.one_server
async def test_end_of_a_session_whose_reply_was_lost_is_one(store, proxy):
    session = parse_token((await store.users.register("carol", "correct horse")).token)
    assert session is not None
    await lost(proxy, store.sessions.close(session), END_SESSION.digest)

    with pytest.raises(Unauthenticated):
        await store.sessions.close(session)


@pytest.mark.one_server
async def test_flag_whose_reply_was_lost_is_a_change(store, alice, bob, redis, proxy):
    """What is kept of its answer has no text, so that a purge leaves none."""
    number = (await post(store, alice, title="a secret")).number
    flagged = await lost(proxy, flags.flag(store.site, bob, "article", number, FlagReason.SPAM), FLAG.digest)

    assert (flagged.changed, flagged.subject.title) == (True, "a secret")
    assert not any("secret" in redis.get(key) for key in redis.scan_iter("answer:*"))


@pytest.mark.one_server
async def test_removal_by_a_moderator_whose_reply_was_lost_is_a_change(store, alice, proxy):
    number = (await post(store, alice)).number
    removing = partial(article_moderation.remove, store.site, OPERATOR, number, group=None, reason="an advertisement")

    assert (await lost(proxy, removing(), MODERATE_ARTICLE.digest)).changed
    assert not (await removing()).changed


@pytest.mark.one_server
async def test_first_of_two_equal_calls_that_comes_last_changes_nothing(store, alice, redis):
    """
    A server that stood still may read the connection that was given up after the one that took its place. `hide.lua`
    gets the number of the article with 16 digits, and how many a user may hide, or 0 to show it again.
    """
    begin = store.site.command(HIDE, 0, "0" * 12 + "1024", 10, username=alice, bans="")
    end = store.site.command(HIDE, 0, "0" * 12 + "1024", 0, username=alice, bans="")
    replies = [await store.site.redis.run(command) for command in (begin, end, begin)]

    assert [status for status, _ in replies] == ["changed", "changed", "changed"]
    assert redis.exists(hidden.HIDDEN(0, alice)) == 0


@pytest.mark.one_server
async def test_answers_are_kept_for_ten_seconds_only(store, alice, bob, redis):
    others = set(redis.keys("answer:*"))
    await store.follows.follow(bob, alice)
    (key,) = set(redis.keys("answer:*")) - others

    assert 9_000 < redis.pttl(key) <= kept_answers.LIFETIME


@pytest.mark.one_server
async def test_edits_whose_replies_were_lost_are_done_once(store, alice, redis, proxy):
    number = (await post(store, alice, groups=["show"])).number
    comment = await commented(store, number, alice)
    edited = (await lost(proxy, store.articles.edit(number, alice, {"title": "another"}), EDIT.digest)).article
    regrouped = await lost(proxy, store.articles.regroup(number, alice, add=["ask"], remove=["show"]), REGROUP.digest)
    answer = await lost(proxy, store.comments.edit(comment.number, alice, "more"), EDIT_COMMENT.digest)

    assert (edited.title, regrouped.groups, answer.comment.content) == ("another", ("ask",), "more")
    assert await article(store, number) == regrouped
    done = [entry["kind"] for _, entry in redis.xrange(keys.log(store.site.partition_of_article(number)))]
    assert [done.count(kind) for kind in ("edited", "regrouped", "comment_edited")] == [1, 1, 1]
    assert await verified(store) == []


@pytest.mark.one_server
async def test_edit_whose_reply_was_lost_of_what_was_deleted_since_is_not_found(store, alice, redis, proxy):
    """The kept answer leaves the article out, so that it is read again."""
    number = (await post(store, alice)).number
    editing = asyncio.create_task(lost(proxy, store.articles.edit(number, alice, {"title": "a"}), EDIT.digest))
    while not proxy.lost:  # noqa: ASYNC110 - the proxy has no event
        await asyncio.sleep(0)
    redis.unlink(keys.article(store.site.partition_of_article(number), number))

    with pytest.raises(NotFound):
        await editing


@pytest.mark.one_server
async def test_server_key_whose_reply_was_lost_is_told_and_revoked(store, proxy):
    text = await lost(proxy, store.server_keys.create("shop"), SERVER_KEY.digest)

    assert await store.server_keys.names([text]) == ["shop"]
    assert await lost(proxy, store.server_keys.revoke("shop"), SERVER_KEY.digest)


@pytest.mark.one_server
async def test_user_of_the_operator_whose_reply_was_lost_is_made(store, proxy):
    assert await lost(proxy, store.users.create("zoe"), CREATE_USER.digest)
    assert not await store.users.create("zoe")


@pytest.mark.one_server
async def test_registration_whose_reply_was_lost_is_done(store, proxy):  # F1
    grant = await lost(proxy, store.users.register("carol", "correct horse"))

    assert grant.login.username == "carol"
    await store.users.log_in("carol", "correct horse")


@pytest.mark.one_server
async def test_password_change_whose_reply_was_lost_is_done(store, proxy):
    await store.users.register("carol", "correct horse")
    session = parse_token((await store.users.log_in("carol", "correct horse")).token)
    assert session is not None
    changing = store.users.change_password(session, "correct horse", "battery staple")

    assert await lost(proxy, changing, CHANGE_PASSWORD.digest) == "carol"
    await store.users.log_in("carol", "battery staple")


@pytest.mark.one_server
@pytest.mark.parametrize("weight", [100.0, None])
async def test_change_of_weights_whose_reply_was_lost_is_done(store, alice, proxy, weight):
    await post(store, alice, groups=["show"])
    await reindex.set_weights(store.site, "show", {"vote_score": 200.0}, progress=lambda count: None)
    changing = reindex.set_weights(store.site, "show", {"vote_score": weight}, progress=lambda count: None)

    assert (await lost(proxy, changing, ACTIVATE_INDEXES.digest)).vote_score == (weight or store.site.policy.vote_score)
    assert await verified(store) == []


@pytest.mark.one_server
async def test_change_of_orders_whose_reply_was_lost_is_done(store, alice, proxy):
    await post(store, alice)
    await lost(proxy, reindex.reindex(store.site, [Order.HOT], progress=lambda count: None), ACTIVATE_INDEXES.digest)

    assert store.site.rankings.orders == (Order.HOT,)
    assert await verified(store) == []


@pytest.mark.one_server
async def test_store_is_consistent_after_many_lost_replies(store, proxy):
    people = [await registered(store, f"person-{number}") for number in range(8)]
    number, answered = (await post(store, people[0])).number, count(1)

    async def use(person: str) -> None:
        for _ in range(5):
            await store.articles.vote(number, person, Vote.UP)
            if person != people[0]:
                await store.follows.follow(person, people[0])
            if next(answered) % 8 == 0:  # so that retries get a reply before the next one is lost
                proxy.loses = b""

    proxy.loses = b""
    await asyncio.gather(*(use(person) for person in people))

    assert proxy.lost > 3
    assert (await article(store, number)).votes == len(people)
    found: list[object] = []
    await verify.verify(store.site, found.append)
    assert found == []


@pytest.mark.one_server
async def test_store_without_memory_is_read_only(store, alice, bob, redis):
    number = (await post(store, alice, groups=["show"])).number

    def kept() -> dict[str, Any]:
        return {key: value for key, value in everything(redis).items() if not key.startswith("posted:")}  # these expire

    before = kept()
    redis.config_set("maxmemory", 1)
    try:
        for write in (
            store.articles.post(alice, DRAFT),
            store.articles.vote(number, bob, Vote.UP),
            store.articles.vote(number, bob, Vote.DOWN),
            store.articles.edit(number, alice, {"title": "another"}),
            store.articles.regroup(number, alice, add=["ask"], remove=["show"]),
            store.follows.follow(bob, alice),
            store.users.register("carol", "correct horse"),
            store.sessions.open(alice),
        ):
            with pytest.raises(StoreUnavailable, match="out of memory"):
                await write
        for order in Order:
            for listing in (listings.whole(store.site, order), listings.group(store.site, "show", order)):
                assert await numbers(store, listing) == [number]
        assert (await article(store, number)).votes == 1
    finally:
        redis.config_set("maxmemory", 0)

    assert kept() == before
    assert (await store.articles.vote(number, bob, Vote.UP)).changed


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path / "own")
    with running(server):
        yield server


@pytest.mark.one_server
@pytest.mark.parametrize("partitions", [1])
@pytest.mark.parametrize("outage", [lambda server: server.kill(), lambda server: server.send(signal.SIGSTOP)])
async def test_short_outage_delays_requests(server, partitions, clock, outage, monkeypatch):
    """The retry time is longer here, as a busy machine takes long to start a server."""
    assert client.RETRY_TIME > 1.5
    monkeypatch.setattr(client, "RETRY_TIME", PATIENCE)
    store = await Store.open(server.url, partitions=partitions, clock=clock)
    alice, bob = await registered(store, "alice"), await registered(store, "bob")
    number = (await post(store, alice)).number
    await store.site.redis.run(("WAITAOF", 1, 0, 60_000))  # else a busy disk may not have the article yet
    outage(server)
    voting = asyncio.ensure_future(store.articles.vote(number, bob, Vote.UP))
    await asyncio.sleep(1)
    server.send(signal.SIGCONT)
    if server.process is None:
        server.launch()

    voted = await voting

    assert (voted.article.votes, voted.changed) == (2, True)
    assert (await article(store, number)).votes == 2
    await store.close()


@pytest.mark.one_server
@pytest.mark.parametrize("partitions", [1])
async def test_long_outage_is_reported_after_two_seconds_and_ends_within_one(server, partitions, clock):
    store = await Store.open(server.url, partitions=partitions, clock=clock)
    loop, ends = asyncio.get_running_loop(), []
    for begin, end in (
        (server.kill, server.start),
        (partial(server.send, signal.SIGSTOP), partial(server.send, signal.SIGCONT)),
    ):
        begin()
        assert await is_reported_within(2.5, store)
        end()
        started_at = loop.time()
        assert await store.site.redis.run(("SET", "it", "is back")) == "OK"
        ends.append(loop.time() - started_at)

    assert min(ends) < 1
    await store.close()


async def is_reported_within(seconds: float, store: Store) -> bool:
    """Whether one of three commands fails as soon: a busy machine may delay the others."""
    loop = asyncio.get_running_loop()
    for _ in range(3):
        started_at = loop.time()
        with pytest.raises(StoreUnavailable, match="the store does not answer"):
            await store.site.redis.run(("GET", "it"))
        if loop.time() - started_at < seconds:
            return True
    return False
