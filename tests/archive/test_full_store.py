"""A store whose memory is full: what frees memory goes on, and what needs some is refused and changes nothing."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from redis import Redis

from store import mails, redactions, reverts, roles
from store.errors import StoreUnavailable
from store.moderation_records import Role
from store.roles import OPERATOR
from tests.archive.test_banned_texts import findings, spammer  # noqa: F401  # a fixture
from tests.archive.test_leaving import NAME, assert_gone, naming, site  # noqa: F401  # a fixture
from tests.archive.test_mover import posted
from tests.archive.test_purges import purge, subjects, texts_in  # noqa: F401  # a fixture
from tests.database.conftest import mirrored, on_both
from tests.store.reading import everything
from tests.store.test_mailboxes import mailed  # noqa: F401  # a fixture

pytestmark = pytest.mark.one_server
one_partition = pytest.mark.parametrize("partitions", [1], indirect=True)


@contextmanager
def full(redis: Redis) -> Iterator[None]:
    redis.config_set("maxmemory", 1)
    try:
        yield
    finally:
        redis.config_set("maxmemory", 0)


@on_both
async def test_user_leaves_a_full_store(site):  # noqa: F811  # U6, D6
    await mirrored(site.store, site.database)
    with full(site.redis):
        answer = await site.delete("KEEP")
        await site.settle()

    assert answer["userErrors"] == [] and answer["deletedUserId"].startswith("user:~")
    await assert_gone(site)
    assert naming(await site.shown(answer["deletedUserId"])) == []


@on_both
async def test_archived_texts_of_who_leaves_a_full_store_go_once_there_is_room(site):  # noqa: F811  # U6, D6
    await mirrored(site.store, site.database)
    with full(site.redis):
        answer = await site.delete("REMOVE")
        with pytest.raises(StoreUnavailable, match="out of memory"):  # an archived article comes back to be deleted
            await site.settle()
        stored = [f"article:{number}" for number in site.articles if number not in site.old]
        nodes = (await site.ask("query($ids: [ID!]!) { nodes(ids: $ids) { id } }", None, {"ids": stored}))["data"][
            "nodes"
        ]
    await site.settle()

    assert answer["userErrors"] == []
    assert nodes[0] is None and None not in nodes[1:]  # the first is the only one of the user
    await assert_gone(site)


async def test_full_store_purges_texts(store, subjects, redis):  # noqa: F811  # D6
    with full(redis):
        done = [await purge(store, number) for number in subjects]
        assert [each.changed for each in done] == [True] * 3
        assert texts_in(redis) == []

    assert await findings(store) == []


async def test_full_store_redacts_what_moderators_wrote(store, alice, redis):  # D6
    number = (await roles.grant(store.site, OPERATOR, alice, Role.MODERATOR, None, "secret words")).action.number
    with full(redis):
        assert (await redactions.redact(store.site, OPERATOR, number)).changed

    assert (await reverts.read(store.site, number)).reason == redactions.REDACTED


async def test_texts_of_the_banned_are_removed_from_a_full_store(spammer, redis):  # noqa: F811  # M2, D6
    await spammer.ban()
    with full(redis):
        await spammer.settle()
        assert set((await spammer.states()).values()) == {"removed"}

    assert await findings(spammer.store) == []


async def test_mail_leaves_the_queue_of_a_full_store(mailed, redis):  # noqa: F811  # D6
    waiting = await mails.due(mailed.site, 10)
    with full(redis):
        assert [await mails.take(mailed.site, mail, list(mail.noted)) for mail in waiting] == [True] * len(waiting)

    assert waiting and await mails.due(mailed.site, 10) == []


@one_partition
async def test_articles_leave_a_full_store(pair, redis):  # D6
    pair.crashes = False
    numbers = {await posted(pair) for _ in range(3)}
    with full(redis):
        await pair.archive_all()

    assert pair.archived == numbers


@one_partition
async def test_archived_article_does_not_come_back_to_a_full_store(pair, redis):  # D2, D6
    pair.crashes = False
    number = await posted(pair)
    await pair.archive_all()
    given = {"input": {"articleId": f"article:{number}", "title": "another"}}
    edit = "mutation($input: EditArticleInput!) { editArticle(input: $input) { userErrors { code } } }"
    before = everything(redis)
    with full(redis):
        refused = await pair.archiving.ask(edit, "alice", given)

    assert refused["errors"][0]["extensions"]["code"] == "UNAVAILABLE"
    assert "out of memory" in refused["errors"][0]["message"]
    assert everything(redis) == before
    assert (await pair.archiving.ask(edit, "alice", given))["errors"] is None
