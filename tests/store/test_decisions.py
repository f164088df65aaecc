"""
What state articles and comments have after chains of decisions of moderators: removals, approvals, and reverts, each of
which undoes an action. The state follows from the actions that stand, and `verify` repairs one that does not. A text is
PENDING while a rule holds it, until a moderator approves it.

Codes such as M3 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import random
from dataclasses import dataclass, field

import pytest

from store import article_moderation, comment_moderation, keys, purges, reverts
from store.errors import Invalid
from store.held_edits import rule_of
from store.maintenance.restore import Restoration
from store.maintenance.verify import Finding
from store.records import ContentState
from store.roles import OPERATOR
from store.store import Store
from tests.store import held
from tests.store.reading import contents, findings, post, verified
from tests.store.replaying import records as all_records

pytestmark = pytest.mark.many_partitions
VISIBLE, PENDING, REMOVED, _ = ContentState
KINDS = ("article", "comment")


@dataclass
class Subject:
    """An article or a comment, and the numbers of the actions on it that were not reverted, by name."""

    store: Store
    kind: str
    number: int
    actions: dict[str, int] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return f"{self.kind}:{{{self.store.site.partition_of_article(self.number)}}}:{self.number}"

    async def state(self) -> ContentState:
        return ContentState(await self.store.site.redis.run(("HGET", self.key, "state")) or "visible")

    async def act(self, word: str) -> None:
        """Do what a word of a chain says: `hold`, as a rule, or `remove A`, `approve A`, `revert A` (A: an action)."""
        name, _, action = word.partition(" ")
        module = article_moderation if self.kind == "article" else comment_moderation
        if name == "hold" and self.kind == "article":
            await held.set_article_state(self.store, self.number, PENDING)
        elif name == "hold":
            await held.set_comment_state(self.store, self.number, PENDING)
        elif name == "revert":
            await reverts.revert(self.store.site, OPERATOR, self.actions.pop(action), "a reason")
        elif name == "remove":
            done = await module.remove(self.store.site, OPERATOR, self.number, group=None, reason="a reason")
            self.actions[action] = done.action.number
        else:
            self.actions[action] = (await module.approve(self.store.site, OPERATOR, self.number)).action.number


@pytest.fixture(params=KINDS)
async def subject(store, alice, bob, request) -> Subject:
    article = (await post(store, alice, groups=["show"])).number
    if request.param == "article":
        return Subject(store, "article", article)
    comment = (await store.comments.post(article, parent=None, poster=bob, content="a text")).comment
    return Subject(store, "comment", comment.number)


@pytest.mark.parametrize(
    ("chain", "expected"),
    [
        ("hold, remove A, revert A", [PENDING, REMOVED, PENDING]),
        ("hold, remove A, approve B, revert B, revert A", [PENDING, REMOVED, VISIBLE, REMOVED, PENDING]),
        ("hold, remove A, approve B, revert A, revert B", [PENDING, REMOVED, VISIBLE, VISIBLE, PENDING]),
        ("hold, approve A, remove B, revert A, revert B", [PENDING, VISIBLE, REMOVED, REMOVED, PENDING]),
        ("hold, approve A, remove B, revert B, revert A", [PENDING, VISIBLE, REMOVED, VISIBLE, PENDING]),
        ("approve A, hold, remove B, revert B", [VISIBLE, PENDING, REMOVED, PENDING]),
        ("approve A, hold, remove B, approve C, revert C, revert B, revert A", [
            VISIBLE, PENDING, REMOVED, VISIBLE, REMOVED, PENDING, PENDING,
        ]),
        ("remove A, revert A, hold, remove B, revert B", [REMOVED, VISIBLE, PENDING, REMOVED, PENDING]),
        ("hold, remove A, revert A, approve B, remove C, revert C", [
            PENDING, REMOVED, PENDING, VISIBLE, REMOVED, VISIBLE,
        ]),
        ("remove A, approve B, remove C, revert B, revert A, revert C", [
            REMOVED, VISIBLE, REMOVED, REMOVED, REMOVED, VISIBLE,
        ]),
    ],
)  # fmt: skip
async def test_revert_brings_back_the_state_that_the_action_has_found(subject, chain, expected):  # M3, M9
    seen = []
    for word in chain.split(", "):
        await subject.act(word)
        seen.append(await subject.state())

    assert seen == expected
    assert await findings(subject.store) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("chain", "rule"),
    [
        ("approve A, revert A", "check"),
        ("approve A, remove B, revert A, revert B", "check"),
        ("approve A, remove B, revert B, revert A", "check"),
        ("remove A, approve B, revert B, revert A", "check"),
        ("remove A, approve B, revert A, revert B", "check"),
        ("approve A, revert A, approve B, revert B", "check"),
        ("approve A, hold, approve B, revert B", None),
    ],
)
async def test_revert_of_an_approval_brings_back_the_rule_that_held_the_text(
    store, alice, bob, kind, chain, rule
):  # M3
    article = (await post(store, alice, groups=["show"])).number
    with held.holding(store, "it names a shop"):
        if kind == "article":
            number = (await post(store, alice, groups=["show"])).number
        else:
            number = (await store.comments.post(article, parent=None, poster=bob, content="a text")).comment.number
    subject = Subject(store, kind, number)
    for word in chain.split(", "):
        await subject.act(word)

    assert await subject.state() is PENDING
    assert rule_of(await store.site.redis.run(("HGETALL", subject.key))) == rule
    assert await findings(store) == []


@pytest.mark.parametrize("seed", range(3))
async def test_reverting_everything_brings_back_the_first_state(subject, seed):  # M3
    chance, is_held = random.Random(seed), seed % 2
    if is_held:
        await subject.act("hold")
    for name in range(8):
        await subject.act(chance.choice(("remove", "approve")) + f" {name}")
        if chance.random() < 0.4:
            await subject.act(f"revert {chance.choice(list(subject.actions))}")
            subject.actions = {key: each for key, each in subject.actions.items() if await _stands(subject, each)}
    numbers = list(set(subject.actions.values()))  # an act that changes nothing has the action before it
    for number in chance.sample(numbers, len(numbers)):
        name = next(each for each, action in subject.actions.items() if action == number)
        await subject.act(f"revert {name}")

    assert await subject.state() is (PENDING if is_held else VISIBLE)
    assert await findings(subject.store) == []


async def _stands(subject: Subject, number: int) -> bool:
    action = await reverts.read_action(subject.store.site, number)
    return action is not None and action.reverted_by is None


@pytest.mark.parametrize("wrong", ["removed", "visible", "pending"])
async def test_verify_repairs_a_state_that_the_actions_do_not_say(subject, redis, wrong):  # M2
    store = subject.store
    if wrong != "removed":
        await subject.act("remove A")
    expected = _without_log(redis)
    if wrong == "visible":
        redis.hdel(subject.key, "state")
    else:
        redis.hset(subject.key, "state", wrong)
    found = {each.where: (each.found, each.expected) for each in await verified(store)}
    repaired = await verified(store, repair=True)

    right = "visible" if wrong == "removed" else "removed"
    assert found[f"{subject.key} state"] == (wrong, right)
    assert repaired and all(each.repaired for each in repaired)
    assert await findings(store) == []
    assert _without_log(redis) == expected


@pytest.mark.parametrize("is_locked", [True, False])
async def test_verify_repairs_a_lock_that_the_actions_do_not_say(store, alice, redis, is_locked):  # M4
    number = (await post(store, alice)).number
    key = keys.article(store.site.partition_of_article(number), number)
    if is_locked:
        await article_moderation.lock(store.site, OPERATOR, number, group=None, reason="a reason")
        redis.hdel(key, "locked")
    else:
        redis.hset(key, "locked", "1")
    (found,) = await verified(store)
    (repaired,) = await verified(store, repair=True)

    values = ("nothing", "1") if is_locked else ("1", "nothing")
    assert (found.where, found.found, found.expected) == (f"{key} locked", *values)
    assert repaired.repaired
    assert redis.hget(key, "locked") == ("1" if is_locked else None)
    assert await findings(store) == []


async def test_changes_meanwhile_are_neither_reported_nor_undone(subject):
    """The script that repairs a state compares it with the actions in the same step."""
    found: list[Finding] = []

    async def change() -> None:
        for name in range(20):
            await subject.act(f"{('remove', 'approve')[name % 2]} {name}")

    async def repair() -> None:
        for _ in range(4):
            found.extend(await verified(subject.store, repair=True))

    await asyncio.gather(change(), repair())
    assert [each for each in found if each.where.endswith(" state")] == []
    assert await subject.state() is VISIBLE


async def test_no_edit_waits_for_what_was_purged(subject):  # M3
    """A purged text is gone for good, so that no held edit of it can be rejected or approved."""
    site = subject.store.site
    module = article_moderation if subject.kind == "article" else comment_moderation
    await purges.purge(site, OPERATOR, subject.number, "a reason")

    rejected = await module.reject_edit(site, OPERATOR, subject.number, "a reason")
    assert (rejected.changed, rejected.action) == (False, None)
    with pytest.raises(Invalid, match="was purged"):
        await module.approve(site, OPERATOR, subject.number)


@pytest.mark.one_server
async def test_restored_texts_have_the_states_that_later_actions_say(subject, redis_url, clock):  # M2
    """A backup reads actions after what they are about: what is removed or purged meanwhile is so after a restore."""
    store = subject.store
    records = await all_records(store)
    await subject.act("remove A")
    for later in ("removed", "purged"):
        if later == "purged":
            await purges.purge(store.site, OPERATOR, subject.number, "a reason")
        later_records = await all_records(store)
        url = f"{redis_url}?db={1 + (later == 'purged')}"
        restoration = await Restoration.begin(url, source=later, partitions=4, policy=store.site.policy, clock=clock)
        await restoration.put([*records, *(each for each in later_records if each.kind in ("action", "sequences"))])
        await restoration.end()
        await restoration.close()
        copy = await Store.open(url, store.site.policy, clock=clock)
        other = Subject(copy, subject.kind, subject.number)
        text = await copy.site.redis.run(("HGET", other.key, "title" if subject.kind == "article" else "content"))
        assert await other.state() is REMOVED
        assert (text == purges.PURGED) == (later == "purged")
        assert await findings(copy) == []
        await copy.close()


def _without_log(redis) -> dict[str, object]:
    """The contents but for what changes with any change of a state."""
    left_out = ("moves", "removing", "effects", "applied", "logged", "latest")
    return {key: value for key, value in contents(redis).items() if not key.startswith(left_out)}
