"""
The deletion of an article is answered once no list or inbox shows its comments. These are removed afterwards, in steps,
by any process. The tests are about what is read meanwhile.

A store is split into partitions by user: the partition of a user has all that the user owns. `verified`
gives what `upvote verify` finds wrong in the store.

Codes such as C8 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import random
from contextlib import suppress

import pytest

from store import article_moderation, effects, inboxes, keys, removals
from store.listings import Window
from store.records import Vote
from store.roles import OPERATOR
from store.site import Site
from store.store import Store
from tests.conftest import registered
from tests.store.discussions import commented
from tests.store.inbox_model import PEOPLE
from tests.store.reading import post, profile, read, verified

pytestmark = pytest.mark.many_partitions


@pytest.fixture
async def people(store, monkeypatch) -> None:
    """Users of several partitions. A deletion removes few comments at once."""
    monkeypatch.setattr(removals, "REMOVED_AT_ONCE", 5)
    monkeypatch.setattr(removals, "STEPS_AT_ONCE", 2)
    monkeypatch.setattr(removals, "FORGOTTEN_AT_ONCE", 7)
    for name in PEOPLE:
        await registered(store, name)


@pytest.fixture
async def other(redis_url, policy, partitions, clock):
    """The store as another process has it."""
    store = await Store.open(redis_url, policy, partitions, clock=clock)
    yield store
    await store.close()


async def discuss(store: Store, article: int, size: int, seed: int = 4) -> list[int]:
    """Comments of everybody, which answer each other and mention somebody, some of them deleted."""
    chance, made = random.Random(seed), []
    for _ in range(size):
        parent = chance.choice([None, *made])
        text = f"@{chance.choice(PEOPLE)} and @{chance.choice(PEOPLE)} {chance.random()}"
        made.append(await commented(store, article, chance.choice(PEOPLE), parent, text))
    for each in chance.sample(made, size // 6):
        await store.comments.delete(each.number, each.poster)
        made.remove(each)
    return [each.number for each in made]


async def shown(store: Store) -> dict[str, tuple[list[int], int, list[int]]]:
    """What each user sees: the numbers in the inbox, how many are unseen, and the numbers in the list of comments."""
    found = {}
    for name in PEOPLE:
        (page,) = await read(store, inboxes.page(store.site, name, Window(1_000)))
        own = keys.comments(store.site.partition_of_user(name), name)
        listed = await store.site.redis.run(("ZRANGE", own, 0, -1))
        assert page.total == len(page.notifications)
        found[name] = ([each.number for each in page.notifications], page.unseen, list(map(int, listed)))
    return found


@pytest.mark.usefixtures("people")
async def test_lists_and_inboxes_are_right_when_the_deletion_is_answered(store, other, redis):  # C8
    kept, article = (await post(store, "Alice")).number, (await post(store, "bob")).number
    await discuss(store, kept, size=12)
    expected = await shown(store)
    karma = [(await profile(store, name)).karma for name in PEOPLE]
    comments = await discuss(store, article, size=60, seed=5)
    await asyncio.gather(*(store.comments.vote(each, "voter", Vote.UP) for each in comments))
    await store.articles.delete(article, "bob")

    removing = removals.REMOVING(store.site.partition_of_article(article))
    assert redis.zrange(removing, 0, -1) == [str(article)]
    assert await shown(other) == expected
    assert await verified(store) == []
    await removals.remove_all(other.site, store.site.partition_of_article(article))
    assert not redis.exists(removing)
    assert await shown(store) == expected
    assert [(await profile(store, name)).karma for name in PEOPLE] == karma
    assert await effects.pending(store.site) == []
    assert await verified(store) == []


@pytest.mark.usefixtures("people")
async def test_lists_and_inboxes_are_right_while_another_process_removes(store, other, monkeypatch):  # C8
    monkeypatch.setattr(removals, "INTERVAL", 0.001)
    articles = [(await post(store, name)) for name in PEOPLE for _ in range(3)]
    of_article = {
        each.number: set(await discuss(store, each.number, size=30, seed=seed)) for seed, each in enumerate(articles)
    }

    async def delete(article) -> None:
        await store.articles.delete(article.number, article.poster)
        gone = of_article[article.number]
        for found in (await shown(other)).values():
            assert not gone & {*found[0], *found[2]}
            assert found[1] == len(found[0])

    async with removals.removing(other.site), removals.removing(store.site):
        await asyncio.gather(*map(delete, articles))
        async with asyncio.timeout(60):
            while await removals.is_removing(store.site):  # noqa: ASYNC110 - a task of another store removes it
                await asyncio.sleep(0.01)
    assert set(map(repr, (await shown(store)).values())) == {repr(([], 0, []))}
    assert await verified(store) == []


@pytest.mark.usefixtures("people")
async def test_comment_that_is_not_in_a_list_yet_is_not_added_to_it_later(store, other, monkeypatch):  # C8
    """The process that posts it dies before it applies the effects of the comment in other partitions."""
    article = (await post(store, "bob")).number
    await discuss(store, article, size=30)

    async def die(*arguments: object) -> None:
        """The process ends."""

    with monkeypatch.context() as patched:
        patched.setattr(effects, "apply_noted", die)
        for name in PEOPLE:
            await commented(store, article, name, text=f"@{' @'.join(PEOPLE)}")
    monkeypatch.setattr(removals, "STEPS_AT_ONCE", 0)  # all comments are only taken out of lists and inboxes
    await store.articles.delete(article, "bob")
    await effects.complete(other.site)

    assert set(map(repr, (await shown(other)).values())) == {repr(([], 0, []))}


class Suspended(Exception):
    """The other process goes on later."""


@pytest.mark.usefixtures("people")
async def test_hidden_comments_leave_inboxes_before_the_answer_though_another_process_has_begun(
    store, other, monkeypatch
):  # C8 M2
    """
    The task of the other process has changed the comments, and not yet lists and inboxes in other partitions. The
    moderator's request has to do this, too.
    """
    article = (await post(store, "bob")).number
    await discuss(store, article, size=30)
    before, own = await shown(store), removals._update_lists

    async def suspend(*arguments: object) -> None:
        raise Suspended

    async def overtaken(site: Site, partition: int, number: str) -> bool:
        with monkeypatch.context() as patched, suppress(Suspended):
            patched.setattr(effects, "apply_noted", suspend)
            await own(other.site, partition, number)
        return await own(site, partition, number)

    monkeypatch.setattr(removals, "_update_lists", overtaken)
    removed = await article_moderation.remove(store.site, OPERATOR, article, group=None, reason="an advertisement")
    own_notice = [removed.action.number]
    assert await shown(store) == {name: (own_notice, 1, []) if name == "bob" else ([], 0, []) for name in PEOPLE}
    await article_moderation.revert(store.site, OPERATOR, removed.action, "it was none")

    after = await shown(store)
    assert after.pop("bob")[2] == before.pop("bob")[2]
    assert after == before
    assert await verified(store) == []
