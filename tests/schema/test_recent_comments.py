"""`comments`, of the whole site and of groups."""

import asyncio
import random

import pytest

from store import article_moderation, recent_comments, removals
from store.recent_comments import FLOORS, RECENT, RELISTING
from store.records import ContentState
from store.roles import OPERATOR
from tests.store.held import set_comment_state
from tests.store.reading import post, verified
from tests.support.recent_comments import GROUPS, listed, page, say, walked

pytestmark = pytest.mark.routed


async def test_comments_of_site_and_group_come_newest_first(store, ask, alice, bob, clock):  # L8
    articles = [await post(store, who, groups=groups) for who, groups in ((alice, ["go"]), (bob, ["go", "lua"]))]
    said = [await say(store, clock, article, alice) for article in (*articles, *articles, await post(store, bob))]
    newest = [each.id for each in reversed(said)]

    assert await walked(ask) == newest
    assert await walked(ask, "Go") == newest[1:]
    assert await walked(ask, "lua") == [said[3].id, said[1].id]
    assert await listed(ask, "zig") == []
    assert (await page(ask))["totalCount"] == 5 and (await page(ask, "lua"))["totalCount"] == 2
    middle = await page(ask, first=2, after=(await page(ask, first=1))["pageInfo"]["endCursor"])
    assert [node["id"] for node in middle["nodes"]] == newest[1:3]
    assert middle["pageInfo"]["hasNextPage"] and middle["pageInfo"]["hasPreviousPage"]


async def test_deleted_comment_leaves_no_gap(store, ask, alice, bob, clock):
    article = await post(store, alice)
    said = [await say(store, clock, article, bob) for _ in range(3)]
    answer = await say(store, clock, article, alice, parent=said[1].number)
    await store.comments.delete(said[1].number, bob)
    await store.comments.delete(answer.number, alice)

    assert await walked(ask) == [said[2].id, said[0].id]
    await store.articles.delete(article.number, alice)
    assert await page(ask) == {
        "totalCount": 0, "nodes": [],
        "pageInfo": {"hasNextPage": False, "hasPreviousPage": False, "startCursor": None, "endCursor": None},
    }  # fmt: skip


async def test_hidden_comment_is_left_out_at_once_and_comes_back(store, ask, alice, bob, clock):  # M2, M3
    article, other = await post(store, alice, groups=["go"]), await post(store, bob, groups=["go"])
    said = [await say(store, clock, each, bob) for each in (article, other, article)]
    await set_comment_state(store, said[0].number, ContentState.PENDING)
    partly = await walked(ask, "go")
    await set_comment_state(store, said[0].number, ContentState.VISIBLE)
    removal = await article_moderation.remove(store.site, OPERATOR, article.number, None, "spam")
    without = [await walked(ask, group, size=1) for group in (None, "go")]
    await article_moderation.revert(store.site, OPERATOR, removal.action, "an error")

    assert partly == [said[2].id, said[1].id]
    assert without == [[said[1].id]] * 2
    assert await walked(ask) == await walked(ask, "go") == [each.id for each in reversed(said)]
    assert await verified(store) == []


async def test_hidden_comments_are_left_out_before_their_places_are(
    store, ask, alice, bob, clock, redis, monkeypatch
):  # M2
    article, other = await post(store, alice, groups=["go"]), await post(store, bob, groups=["go"])
    last = await say(store, clock, other, alice)
    for n in range(60):
        await say(store, clock, article, bob, f"text {n}")

    async def nothing(*_):
        pass

    with monkeypatch.context() as patch:
        patch.setattr(removals, "list_comments", nothing)
        patch.setattr(recent_comments, "settle", nothing)
        await article_moderation.remove(store.site, OPERATOR, article.number, None, "spam")
        p = store.site.home_of_article(article.number)
        left = redis.zcard(RECENT(p, "all"))

        assert left >= 60 and redis.zcard(RELISTING(p)) == 2
        assert await listed(ask, first=5) == await listed(ask, "go", last=5) == [last.id]
    await removals.remove_all(store.site, p)
    assert redis.zcard(RECENT(p, "all")) == left - 60 and not redis.exists(RELISTING(p))
    assert await verified(store) == []


async def test_regrouped_article_takes_its_comments_along(store, ask, alice, bob, clock):
    article = await post(store, alice, groups=["go"])
    said = [await say(store, clock, article, bob) for _ in range(3)]
    await store.articles.regroup(article.number, alice, ["lua"], ["go"])

    assert await walked(ask, "lua") == await walked(ask) == [each.id for each in reversed(said)]
    assert await listed(ask, "go") == []
    await article_moderation.remove(store.site, OPERATOR, article.number, "lua", "off topic")
    assert await listed(ask, "lua") == []
    assert await verified(store) == []


async def test_group_keeps_its_newest_thousand(store, ask, alice, bob, clock, redis):
    article, other = await post(store, alice, groups=["go"]), await post(store, bob, groups=["go"])
    first = await say(store, clock, other, bob)
    for n in range(1_003):
        await say(store, clock, article, bob, f"text {n}")
    home = store.site.home_of_article(article.number)
    await store.articles.regroup(article.number, alice, ["lua"], [])

    for group in ("go", "lua"):
        assert redis.zcard(RECENT(home, f"group:{group}")) == 1_000
        assert redis.hexists(FLOORS(home), f"group:{group}")
        assert (await page(ask, group))["totalCount"] == 1_000
        end = (await page(ask, group, last=1))["pageInfo"]
        assert not end["hasNextPage"]
    assert first.id in await walked(ask, size=100) and first.id not in await walked(ask, "go", size=100)
    assert await verified(store) == []


@pytest.mark.parametrize("seed", range(4))
async def test_lists_are_those_of_a_plain_model(store, ask, alice, bob, clock, seed):
    """Comments are posted and deleted, articles hidden, shown, regrouped and deleted, several at once."""
    chance = random.Random(seed)
    articles = [await post(store, alice, groups=chance.sample(GROUPS, 2)) for _ in range(5)]
    groups = {article.number: set(article.groups) for article in articles}
    said, hidden, removed = {}, set(), {}

    async def comment():
        article = chance.choice(articles).number
        if article not in removed and article in groups:
            content = f"text {len(said)} {chance.random()}"
            found = (await store.comments.post(article, None, bob, content)).comment
            said[found.number] = found

    async def delete():
        number = chance.choice(list(said) or [0])
        if number and said[number].article in groups:
            found = said.pop(number)
            hidden.discard(number)
            await store.comments.delete(found.number, bob)

    async def hide_or_show():
        number = chance.choice(list(said) or [0])
        if number and said[number].article in groups:
            is_hidden = number in hidden
            (hidden.discard if is_hidden else hidden.add)(number)
            await set_comment_state(store, number, ContentState.VISIBLE if is_hidden else ContentState.REMOVED)

    async def moderate():
        number = chance.choice(list(groups))
        if number in removed:
            await article_moderation.revert(store.site, OPERATOR, removed.pop(number), "an error")
        else:
            removed[number] = None
            removed[number] = (await article_moderation.remove(store.site, OPERATOR, number, None, "spam")).action

    async def regroup():
        number = chance.choice(list(groups))
        if number not in removed:
            add, remove = chance.sample(GROUPS, 1), chance.sample(GROUPS, 1)
            groups[number] = (groups[number] | set(add)) - set(remove)
            await store.articles.regroup(number, alice, add, remove)

    async def delete_article():
        if chance.random() < 0.2 and len(groups) > 1:
            number = chance.choice(list(groups))
            del groups[number]
            removed.pop(number, None)
            await store.articles.delete(number, alice)

    for _ in range(12):
        clock.advance(0.001)
        await asyncio.gather(*(comment() for _ in range(6)))
        for act in chance.choices([delete, hide_or_show, moderate, regroup, delete_article], k=4):
            await asyncio.gather(act(), comment())
        shown = [
            each for number, each in said.items()
            if number not in hidden and each.article in groups and each.article not in removed
        ]  # fmt: skip
        shown.sort(key=lambda each: (each.posted_at, each.number), reverse=True)
        for group in (None, *GROUPS):
            expected = [each.id for each in shown if group is None or group in groups[each.article]]
            assert await walked(ask, group, size=chance.randint(1, 7)) == expected
            assert (await page(ask, group))["totalCount"] == len(expected)
    assert await verified(store) == []
