"""
The field `comments`: the newest comments of the whole site or of a group. Each partition has an index of them for the
site and for each group, its *places*. If an article is hidden or regrouped, its comments leave or enter these in steps.

Codes such as L8 name rows of docs/behaviours.md.
"""

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

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store


async def test_comments_of_site_and_group_come_newest_first(store, ask, alice, bob, clock):  # L8
    articles = [await post(store, who, groups=groups) for who, groups in ((alice, ["go"]), (bob, ["go", "lua"]))]
    posted = [await say(store, clock, article, alice) for article in (*articles, *articles, await post(store, bob))]
    newest = [each.id for each in reversed(posted)]

    assert await walked(ask) == newest
    assert await walked(ask, "Go") == newest[1:]
    assert await walked(ask, "lua") == [posted[3].id, posted[1].id]
    assert await listed(ask, "zig") == []
    assert (await page(ask))["totalCount"] == 5 and (await page(ask, "lua"))["totalCount"] == 2
    middle = await page(ask, first=2, after=(await page(ask, first=1))["pageInfo"]["endCursor"])
    assert [node["id"] for node in middle["nodes"]] == newest[1:3]
    assert middle["pageInfo"]["hasNextPage"] and middle["pageInfo"]["hasPreviousPage"]


async def test_deleted_comment_leaves_no_gap(store, ask, alice, bob, clock):
    article = await post(store, alice)
    posted = [await say(store, clock, article, bob) for _ in range(3)]
    answer = await say(store, clock, article, alice, parent=posted[1].number)
    await store.comments.delete(posted[1].number, bob)
    await store.comments.delete(answer.number, alice)

    assert await walked(ask) == [posted[2].id, posted[0].id]
    await store.articles.delete(article.number, alice)
    assert await page(ask) == {
        "totalCount": 0, "nodes": [],
        "pageInfo": {"hasNextPage": False, "hasPreviousPage": False, "startCursor": None, "endCursor": None},
    }  # fmt: skip


async def test_hidden_comment_is_left_out_at_once_and_comes_back(store, ask, alice, bob, clock):  # M2, M3
    article, other = await post(store, alice, groups=["go"]), await post(store, bob, groups=["go"])
    posted = [await say(store, clock, each, bob) for each in (article, other, article)]
    await set_comment_state(store, posted[0].number, ContentState.PENDING)
    without_pending = await walked(ask, "go")
    await set_comment_state(store, posted[0].number, ContentState.VISIBLE)
    removal = await article_moderation.remove(store.site, OPERATOR, article.number, group=None, reason="spam")
    without_removed = [await walked(ask, group, size=1) for group in (None, "go")]
    await article_moderation.revert(store.site, OPERATOR, removal.action, "an error")

    assert without_pending == [posted[2].id, posted[1].id]
    assert without_removed == [[posted[1].id]] * 2
    assert await walked(ask) == await walked(ask, "go") == [each.id for each in reversed(posted)]
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

    with monkeypatch.context() as patch:  # nothing leaves the places
        patch.setattr(removals, "update_lists", nothing)
        patch.setattr(recent_comments, "relist", nothing)
        await article_moderation.remove(store.site, OPERATOR, article.number, group=None, reason="spam")
        partition = store.site.partition_of_article(article.number)
        still_listed = redis.zcard(RECENT(partition, "all"))

        assert still_listed >= 60 and redis.zcard(RELISTING(partition)) == 2
        assert await listed(ask, first=5) == await listed(ask, "go", last=5) == [last.id]
    await removals.remove_all(store.site, partition)
    assert redis.zcard(RECENT(partition, "all")) == still_listed - 60 and not redis.exists(RELISTING(partition))
    assert await verified(store) == []


async def test_regrouped_article_takes_its_comments_along(store, ask, alice, bob, clock):
    article = await post(store, alice, groups=["go"])
    posted = [await say(store, clock, article, bob) for _ in range(3)]
    await store.articles.regroup(article.number, alice, add=["lua"], remove=["go"])

    assert await walked(ask, "lua") == await walked(ask) == [each.id for each in reversed(posted)]
    assert await listed(ask, "go") == []
    await article_moderation.remove(store.site, OPERATOR, article.number, group="lua", reason="off topic")
    assert await listed(ask, "lua") == []
    assert await verified(store) == []


async def test_group_keeps_its_newest_thousand(store, ask, alice, bob, clock, redis):
    article, other = await post(store, alice, groups=["go"]), await post(store, bob, groups=["go"])
    first = await say(store, clock, other, bob)
    for n in range(1_003):
        await say(store, clock, article, bob, f"text {n}")
    partition = store.site.partition_of_article(article.number)
    await store.articles.regroup(article.number, alice, add=["lua"], remove=[])

    for group in ("go", "lua"):
        assert redis.zcard(RECENT(partition, f"group:{group}")) == 1_000
        assert redis.hexists(FLOORS(partition), f"group:{group}")
        assert (await page(ask, group))["totalCount"] == 1_000
        end = (await page(ask, group, last=1))["pageInfo"]
        assert not end["hasNextPage"]
    assert first.id in await walked(ask, size=100) and first.id not in await walked(ask, "go", size=100)
    assert await verified(store) == []


class Discussions:
    """
    Articles in groups with comments, random changes of them, and which comments the lists should have.

    `groups` has the groups of each article, by its number, and `removed` the action that removed it, if one did.
    `posted` has each comment by its number, and `hidden` the numbers of the hidden ones.
    """

    def __init__(self, store, alice, bob, seed):
        self.store, self.alice, self.bob, self.chance = store, alice, bob, random.Random(seed)
        self.groups, self.posted, self.hidden, self.removed = {}, {}, set(), {}

    async def begin(self):
        for _ in range(5):
            article = await post(self.store, self.alice, groups=self.chance.sample(GROUPS, 2))
            self.groups[article.number] = set(article.groups)

    async def comment(self):
        article = self.chance.choice(list(self.groups))
        if article not in self.removed:
            content = f"text {len(self.posted)} {self.chance.random()}"
            found = (await self.store.comments.post(article, parent=None, poster=self.bob, content=content)).comment
            self.posted[found.number] = found

    async def delete(self):
        if self.posted:
            found = self.posted.pop(self.chance.choice(list(self.posted)))
            self.hidden.discard(found.number)
            if found.article in self.groups:
                await self.store.comments.delete(found.number, self.bob)

    async def hide_or_show(self):
        number = self.chance.choice(list(self.posted) or [0])
        if number and self.posted[number].article in self.groups:
            state = ContentState.VISIBLE if number in self.hidden else ContentState.REMOVED
            self.hidden ^= {number}
            await set_comment_state(self.store, number, state)

    async def moderate(self):
        number = self.chance.choice(list(self.groups))
        if number in self.removed:
            await article_moderation.revert(self.store.site, OPERATOR, self.removed.pop(number), "an error")
        else:
            self.removed[number] = None
            done = await article_moderation.remove(self.store.site, OPERATOR, number, group=None, reason="spam")
            self.removed[number] = done.action

    async def regroup(self):
        number = self.chance.choice(list(self.groups))
        if number not in self.removed:
            add, remove = self.chance.sample(GROUPS, 1), self.chance.sample(GROUPS, 1)
            self.groups[number] = (self.groups[number] | set(add)) - set(remove)
            await self.store.articles.regroup(number, self.alice, add, remove)

    async def delete_article(self):
        if self.chance.random() < 0.2 and len(self.groups) > 1:
            number = self.chance.choice(list(self.groups))
            del self.groups[number]
            self.removed.pop(number, None)
            await self.store.articles.delete(number, self.alice)

    def listed(self, group):
        """The ids of the comments that a list has, newest first."""
        shown = [
            each for number, each in self.posted.items()
            if number not in self.hidden and each.article not in self.removed
            and each.article in self.groups and (group is None or group in self.groups[each.article])
        ]  # fmt: skip
        return [each.id for each in sorted(shown, key=lambda each: (each.posted_at, each.number), reverse=True)]


@pytest.mark.parametrize("seed", range(4))
async def test_lists_are_those_of_a_plain_model(store, ask, alice, bob, clock, seed):
    """Comments are posted and deleted, articles hidden, shown, regrouped and deleted, several at once."""
    model = Discussions(store, alice, bob, seed)
    await model.begin()
    acts = [model.delete, model.hide_or_show, model.moderate, model.regroup, model.delete_article]
    for _ in range(12):
        clock.advance(0.001)
        await asyncio.gather(*(model.comment() for _ in range(6)))
        for act in model.chance.choices(acts, k=4):
            await asyncio.gather(act(), model.comment())
        for group in (None, *GROUPS):
            assert await walked(ask, group, size=model.chance.randint(1, 7)) == model.listed(group)
            assert (await page(ask, group))["totalCount"] == len(model.listed(group))
    assert await verified(store) == []
