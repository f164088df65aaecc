"""
Texts, which are articles and comments: a ban may remove all of a user, and its revert brings them back. This is done in
steps, which the tasks of a server repeat after an interruption.

A store is split into partitions by user: the partition of a user has all that the user owns. `findings`
gives what `upvote verify` finds wrong in the store.

Codes such as M2 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from redis import Redis

from archive import banned_texts
from store import article_moderation, bans, comment_moderation, effects, keys, moderation, removals, reverts
from store.maintenance import dump
from store.maintenance.restore import Restoration
from store.moderation_records import ModerationAction, ModerationKind
from store.records import ContentState, Vote
from store.roles import OPERATOR
from store.store import Store
from tests.conftest import Clock, registered
from tests.store.held import set_comment_state
from tests.store.reading import contents, findings, numbers, post
from tests.support.memory import full

pytestmark = pytest.mark.many_partitions
VISIBLE, PENDING, REMOVED, _ = ContentState
# Prefixes of the keys that are not as before after a ban and its revert, such as those of actions.
DIFFERING = ("action", "logged", "sequence", "effects", "applied", "lifted", "moves", "deleted", "session")


@dataclass
class Spammer:
    """
    A user, Mallory, with articles in groups and with comments on articles of others, in all partitions.

    `others` has an article of each person, of which the first is Mallory's. `comments` has one on each of these, a
    second one on the second of them, and one that answers an answer. All are numbers.
    """

    store: Store
    articles: list[int]
    comments: list[int]
    others: list[int]

    @property
    def all(self) -> list[str]:
        return [*(f"article:{each}" for each in self.articles), *(f"comment:{each}" for each in self.comments)]

    async def states(self) -> dict[str, str]:
        """The state of each text of Mallory, such as "removed", by its id."""
        site = self.store.site
        found = {}
        for each in self.all:
            kind, _, number = each.partition(":")
            key = (keys.article if kind == "article" else keys.comment)(site.partition_of_article(int(number)), number)
            found[each] = await site.redis.run(("HGET", key, "state")) or "visible"
        return found

    async def ban(self, group: str | None = None, until: int | None = None) -> ModerationAction:
        done = await bans.ban(
            self.store.site, OPERATOR, "mallory", group=group, until=until, reason="spam", removes_texts=True
        )
        assert done.action
        return done.action

    async def settle(self) -> None:
        """Remove or bring back all texts that bans ask for, as the tasks of a server do."""
        for partition in range(self.store.site.partitions):
            await banned_texts.WORK.settle_all(self.store, database=None, partition=partition)
        await effects.complete(self.store.site)
        for partition in range(self.store.site.partitions):
            await removals.remove_all(self.store.site, partition)

    async def revert(self, action: ModerationAction) -> None:
        await reverts.revert(self.store.site, OPERATOR, action.number, "a mistake")


@pytest.fixture
async def spammer(store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Spammer:
    monkeypatch.setattr(banned_texts, "REMOVED_AT_ONCE", 2)
    monkeypatch.setattr(banned_texts, "RESTORED_AT_ONCE", 2)
    people = [await registered(store, name) for name in ("Mallory", "alice", "bob", "carol", "dave")]
    articles, comments, others = [], [], []
    for groups in ((), ("show",), ("show", "ask"), ("ask",)):
        clock.advance(1)
        articles.append((await post(store, "Mallory", f"of {groups}", groups)).number)
    for name in people:
        clock.advance(1)
        others.append((await post(store, name, f"of {name}", ("show",) if name == "alice" else ("ask",))).number)
    for number in (*others, others[1]):
        clock.advance(1)
        comments.append(
            (
                await store.comments.post(number, parent=None, poster="Mallory", content=f"@bob look, {clock.now}")
            ).comment.number
        )
    answer = await store.comments.post(others[2], parent=comments[2], poster="carol", content="an answer")
    again = await store.comments.post(others[2], parent=answer.comment.number, poster="Mallory", content="again")
    comments.append(again.comment.number)
    await store.comments.post(articles[1], parent=None, poster="dave", content="below")
    await store.articles.vote(articles[0], "dave", Vote.UP)
    await store.comments.vote(comments[0], "dave", Vote.DOWN)
    clock.advance(1)
    return Spammer(store, [*articles, others[0]], comments, others)


def shown(redis: Redis) -> dict[str, Any]:
    """The values of all keys, but for actions, their notifications, and what only grows."""
    found = {key: value for key, value in contents(redis).items() if not key.startswith(DIFFERING)}
    for key in [key for key in found if key.startswith("inbox")]:
        found[key] = [each for each in found[key] if not each[0].endswith(" action")]
        if not found[key]:
            del found[key]
    return found


async def removals_by(store: Store, ban: ModerationAction) -> list[ModerationAction]:
    """The actions by which a ban has removed texts: one for each."""
    found = [
        await reverts.read_action(store.site, each)
        for each in await numbers(store, moderation.log(store.site, f"ban:{ban.number}"))
    ]
    return [each for each in found if each]


async def test_all_texts_of_a_banned_user_are_removed_and_come_back(spammer, redis, clock):  # M2, M3
    store, before = spammer.store, shown(redis)
    ban = await spammer.ban()
    await spammer.settle()
    assert set((await spammer.states()).values()) == {"removed"}
    assert await findings(store) == []
    actions = await removals_by(store, ban)
    assert sorted(each.subject_id for each in actions) == sorted(spammer.all)
    assert {(each.kind, each.moderator, each.ban, each.group) for each in actions} == {
        (ModerationKind.REMOVE, "operator", ban.number, None)
    }
    assert not any(redis.exists(bans.cleaning(partition)) for partition in range(store.site.partitions))

    clock.advance(1)
    await spammer.revert(ban)
    await spammer.settle()
    assert set((await spammer.states()).values()) == {"visible"}
    assert shown(redis) == before
    assert await findings(store) == []
    assert all(each.reverted_by for each in await removals_by(store, ban))


async def test_ban_of_a_group_removes_what_is_in_it(spammer, redis, clock):  # M2, M3
    store, before, site = spammer.store, shown(redis), spammer.store.site
    ban = await spammer.ban("show")
    await spammer.settle()
    states, (_, only_show, both, *_) = await spammer.states(), spammer.articles
    assert {each for each, state in states.items() if state == "removed"} == {
        f"article:{only_show}", *(f"comment:{each}" for each in (spammer.comments[1], spammer.comments[5])),
    }  # fmt: skip
    assert redis.hget(keys.article(site.partition_of_article(both), both), "groups") == "ask"
    assert {(each.subject_id, each.group) for each in await removals_by(store, ban)} == {
        (f"article:{only_show}", None), (f"article:{both}", "show"),
        *((f"comment:{each}", "show") for each in (spammer.comments[1], spammer.comments[5])),
    }  # fmt: skip
    assert await findings(store) == []

    await spammer.revert(ban)
    await spammer.settle()
    assert shown(redis) == before
    assert await findings(store) == []


async def test_revert_of_a_ban_leaves_what_others_have_decided(spammer, clock):  # M3, M9
    store, site = spammer.store, spammer.store.site
    first, second, third, fourth, _ = spammer.articles
    commented = spammer.comments
    await article_moderation.remove(site, OPERATOR, first, group=None, reason="by itself")
    await comment_moderation.remove(site, OPERATOR, commented[0], group=None, reason="by itself")
    await set_comment_state(store, commented[1], PENDING)
    clock.advance(1)
    ban = await spammer.ban()
    await spammer.settle()
    clock.advance(1)
    await article_moderation.approve(site, OPERATOR, second)
    await article_moderation.approve(site, OPERATOR, third)
    await article_moderation.remove(site, OPERATOR, third, group=None, reason="again, by itself")
    own = {each.subject_id: each for each in await removals_by(store, ban)}
    await reverts.revert(site, OPERATOR, own[f"article:{fourth}"].number, "it is fine")
    await comment_moderation.approve(site, OPERATOR, commented[2])
    await spammer.settle()
    await spammer.revert(ban)
    await spammer.settle()

    states = await spammer.states()
    assert [states[f"article:{each}"] for each in spammer.articles[:4]] == ["removed", "visible", "removed", "visible"]
    assert [states[f"comment:{each}"] for each in commented[:4]] == ["removed", "pending", "visible", "visible"]
    assert await findings(store) == []


async def test_text_that_was_shown_again_stays_so_while_the_ban_goes_on(spammer, clock, redis):
    """Steps may be repeated: a restored backup notes each ban again."""
    store, site = spammer.store, spammer.store.site
    ban = await spammer.ban()
    await spammer.settle()
    own = {each.subject_id: each for each in await removals_by(store, ban)}
    await reverts.revert(site, OPERATOR, own[f"article:{spammer.articles[0]}"].number, "it is fine")
    await comment_moderation.approve(site, OPERATOR, spammer.comments[0])
    states, before = await spammer.states(), shown(redis)
    redis.zadd(bans.cleaning(site.partition_of_article(ban.number)), {str(ban.number): 1})
    await spammer.settle()

    assert await spammer.states() == states
    assert shown(redis) == before


async def test_texts_that_the_ban_allows_stay(spammer, clock):
    store = spammer.store
    await spammer.ban("show", until=clock.now + 1000)
    later = (await store.comments.post(spammer.others[0], parent=None, poster="Mallory", content="elsewhere")).comment
    clock.advance(2)
    article = await post(store, "Mallory", "after its end", ("show",))
    await spammer.settle()

    assert (later.state, article.state) == (VISIBLE, VISIBLE)
    site = store.site
    for key in (
        keys.comment(site.partition_of_article(later.number), later.number),
        keys.article(site.partition_of_article(article.number), article.number),
    ):
        assert await site.redis.run(("HEXISTS", key, "state")) == 0


async def test_second_ban_that_also_removes_texts_is_an_action(spammer):
    site = spammer.store.site
    plain = await bans.ban(site, OPERATOR, "mallory", group=None, until=None, reason="spam")
    with_texts = await bans.ban(site, OPERATOR, "mallory", group=None, until=None, reason="spam", removes_texts=True)
    again = await bans.ban(site, OPERATOR, "mallory", group=None, until=None, reason="spam", removes_texts=True)

    assert (plain.changed, with_texts.changed, again.changed) == (True, True, False)
    assert (with_texts.action.removes_texts, again.action) == (True, with_texts.action)


class Killed(Exception):
    """A process ends."""


def killed_at(store: Store, monkeypatch: pytest.MonkeyPatch, call: int, *, after: bool) -> Callable[[], None]:
    """End the process at a call to Redis, before it or after it. Returns what starts another one."""
    calls, pipeline = 0, store.site.redis.pipeline

    async def mortal(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls < call:
            return await pipeline(*arguments)
        if after:
            await pipeline(*arguments)
        raise Killed

    monkeypatch.setattr(store.site.redis, "pipeline", mortal)
    return lambda: monkeypatch.setattr(store.site.redis, "pipeline", pipeline)


async def until_killed(work: Callable[[], Awaitable[None]]) -> bool:
    """Whether the work was killed before its end."""
    try:
        await work()
    except Killed:
        return True
    return False


@pytest.mark.parametrize("after", [False, True])
async def test_steps_of_a_killed_process_are_completed_by_another(spammer, redis, clock, monkeypatch, after):  # M3
    """Killed at every third call to Redis in turn, and taken up again, equals done once."""
    store, before, kills = spammer.store, shown(redis), 0
    for call in range(1, 200, 3):
        clock.advance(1)
        ban = await spammer.ban()
        restart = killed_at(store, monkeypatch, call, after=after)
        was_killed = await until_killed(spammer.settle)
        restart()
        await spammer.settle()
        assert set((await spammer.states()).values()) == {"removed"}
        assert len(await removals_by(store, ban)) == len(spammer.all)

        clock.advance(1)
        await spammer.revert(ban)
        restart = killed_at(store, monkeypatch, call, after=after)
        was_killed |= await until_killed(spammer.settle)
        restart()
        await spammer.settle()
        assert shown(redis) == before
        kills += was_killed
        if not was_killed:
            break
    assert kills > 3
    assert await findings(store) == []


@pytest.mark.one_server
@pytest.mark.parametrize("is_reverted", [False, True])
async def test_restored_backup_goes_on_where_a_process_was_killed(
    spammer, redis, redis_url, clock, monkeypatch, is_reverted
):
    store, before = spammer.store, shown(redis)
    ban = await spammer.ban()
    clock.advance(1)
    if is_reverted:
        await spammer.settle()
        await spammer.revert(ban)
    restart = killed_at(store, monkeypatch, call=6, after=True)
    assert await until_killed(spammer.settle)
    restart()
    await effects.complete(store.site)
    copy = await _restored(store, f"{redis_url}?db=1", clock)
    other = replace(spammer, store=copy)
    await other.settle()
    await spammer.settle()

    assert await findings(copy) == []
    assert await other.states() == await spammer.states()
    assert set((await other.states()).values()) == {"visible" if is_reverted else "removed"}
    assert not is_reverted or shown(redis) == before
    await copy.close()


async def _restored(store: Store, url: str, clock: Clock) -> Store:
    """The store from a backup, in another database of Redis."""
    restoration = await Restoration.begin(url, "a copy", store.site.partitions, store.site.policy, clock)
    async for records in dump.records_of(store.site, progress=lambda count: None, on_skipped=lambda key: None):
        await restoration.put(records)
    await restoration.end()
    await restoration.close()
    return await Store.open(url, store.site.policy, clock=clock)


@pytest.mark.parametrize("call", [2, 5, 9, 14])
async def test_revert_while_texts_are_being_removed_brings_all_back(spammer, redis, monkeypatch, call):  # M3
    """A process that has stopped for a while goes on after the revert, and removes nothing any more."""
    store, before, calls = spammer.store, shown(redis), 0
    ban = await spammer.ban()
    pipeline = store.site.redis.pipeline

    async def interrupted(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == call:
            monkeypatch.setattr(store.site.redis, "pipeline", pipeline)
            await spammer.revert(ban)
            await spammer.settle()
        return await pipeline(*arguments)

    monkeypatch.setattr(store.site.redis, "pipeline", interrupted)
    await spammer.settle()
    await spammer.settle()
    assert calls == call
    assert shown(redis) == before
    assert await findings(store) == []


async def test_request_removes_some_and_the_task_the_rest(spammer, monkeypatch):
    monkeypatch.setattr(banned_texts, "WAITED_FOR", 4)
    ban = await spammer.ban()
    await banned_texts.begin(spammer.store, database=None, number=ban.number)
    first = list((await spammer.states()).values()).count("removed")
    async with banned_texts.WORK.repeated(spammer.store, database=None):
        await _until(lambda: _all_removed(spammer))

    assert 4 <= first < len(spammer.all)
    assert await findings(spammer.store) == []


async def _all_removed(spammer: Spammer) -> bool:
    return set((await spammer.states()).values()) == {"removed"}


async def _until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(20):
        while not await condition():  # noqa: ASYNC110  # no event tells it
            await asyncio.sleep(0.05)


@pytest.mark.one_server
async def test_texts_of_the_banned_are_removed_from_a_full_store(spammer, redis):  # M2, D6
    await spammer.ban()
    with full(redis):
        await spammer.settle()
        assert set((await spammer.states()).values()) == {"removed"}

    assert await findings(spammer.store) == []
