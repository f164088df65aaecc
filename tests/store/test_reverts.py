"""
Reverts, which undo actions of moderators and are actions themselves, here mostly of grants and revocations of roles;
and redactions, which replace what moderators wrote in an action.

`verified` gives what `upvote verify` finds wrong in the store.

Codes such as M9 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio

import pytest

from store import keys, log, moderation, reverts, roles
from store.errors import AlreadyReverted, Invalid, NotAModerator, NotFound
from store.moderation import Moderated
from store.moderation_records import ModerationAction, ModerationKind, Role
from store.redactions import REDACTED, redact
from store.reverts import read_action, revert
from store.roles import OPERATOR
from tests.store.reading import everything, numbers, profile, verified
from tests.support.memory import full

pytestmark = pytest.mark.many_partitions


async def granted(store, username, role=Role.MODERATOR, group=None):
    """The action that gives a user a role."""
    return (await roles.grant(store.site, OPERATOR, username, role, group=group, reason="a reason")).action


async def revoked(store, username, role=Role.MODERATOR, group=None):
    """The action that takes a role from a user."""
    return (await roles.revoke(store.site, OPERATOR, username, role, group=group, reason="a reason")).action


async def has_role(store, username):
    return bool((await profile(store, username)).roles)


async def test_revert_names_what_it_reverts_and_changes_nothing_else_of_it(store, redis, alice, bob, clock):  # M9
    action = await granted(store, bob, group="show")
    clock.advance(1)
    done, changed = await revert(store.site, OPERATOR, action.number, " a mistake ", "do not tell")

    assert changed
    assert done == ModerationAction(
        number=done.number,
        kind=ModerationKind.REVERT,
        at=clock.now,
        moderator="operator",
        subject_id="user:bob",
        group="show",
        reason="a mistake",
        note="do not tell",
        expires_at=None,
        role=Role.MODERATOR,
        reverts=action.number,
        reverted_by=None,
        ban=None,
        removes_texts=False,
    )
    assert await read_action(store.site, action.number) == action._replace(reverted_by=done.number)
    assert not await has_role(store, bob)
    assert await numbers(store, moderation.log(store.site, "user:bob")) == [done.number, action.number]
    assert await verified(store) == []


async def test_reverted_revocation_gives_the_role_back_since_it_was_granted(store, alice, clock):  # M9
    await granted(store, alice)
    before = await profile(store, alice)
    clock.advance(1)
    action = await revoked(store, alice)
    clock.advance(1)
    await revert(store.site, OPERATOR, action.number, "a reason")

    assert await profile(store, alice) == before
    assert await verified(store) == []


async def test_newest_action_that_was_not_reverted_decides_about_a_role(store, alice, clock):
    first, second = await granted(store, alice), await revoked(store, alice)
    third = await granted(store, alice)
    await revert(store.site, OPERATOR, first.number, "a reason")
    assert await has_role(store, alice)
    await revert(store.site, OPERATOR, third.number, "a reason")
    assert not await has_role(store, alice)
    await revert(store.site, OPERATOR, second.number, "a reason")
    assert not await has_role(store, alice)


async def test_nothing_is_reverted_twice(store, redis, alice):  # M9
    action = await granted(store, alice)
    await revert(store.site, OPERATOR, action.number, "a reason")
    before = everything(redis)

    with pytest.raises(AlreadyReverted, match=f"action:{action.number} was reverted before"):
        await revert(store.site, OPERATOR, action.number, "a reason")
    assert everything(redis) == before


async def test_one_of_two_reverts_at_once_is_refused(store, alice):  # M9
    for _ in range(5):
        action = await granted(store, alice)
        done = await asyncio.gather(
            *(revert(store.site, OPERATOR, action.number, "a reason") for _ in range(2)), return_exceptions=True
        )

        assert sorted(type(each) for each in done if not isinstance(each, Moderated)) == [AlreadyReverted]


async def test_revert_is_not_reverted(store, redis, alice):  # M9
    action = await granted(store, alice)
    done = await revert(store.site, OPERATOR, action.number, "a reason")
    before = everything(redis)

    with pytest.raises(Invalid, match="an action of the kind REVERT cannot be reverted"):
        await revert(store.site, OPERATOR, done.action.number, "a reason")
    assert everything(redis) == before


async def test_revert_needs_the_role_that_the_action_needed(store, redis, alice, bob):  # M9
    action = await granted(store, alice)
    await granted(store, bob)
    for actor, number in ((bob, action.number), (alice, action.number), ("carol", action.number), ("carol", 1024)):
        before = everything(redis)
        with pytest.raises(NotAModerator):
            await revert(store.site, actor, number, "a reason")
        assert everything(redis) == before


async def test_grant_of_the_last_admin_is_not_reverted(store, redis, alice):
    action = await granted(store, alice, Role.ADMIN)
    before = everything(redis)

    with pytest.raises(Invalid, match="alice is the last admin"):
        await revert(store.site, alice, action.number, "a reason")
    assert everything(redis) == before


async def test_wrong_input_changes_nothing(store, redis, alice):
    action = await granted(store, alice)
    before = everything(redis)

    with pytest.raises(NotFound, match=f"there is no action:{action.number + keys.SLOTS}"):
        await revert(store.site, OPERATOR, action.number + keys.SLOTS, "a reason")
    for reason, note, field in ((" ", None, "reason"), ("a", "x" * 5_001, "note"), ("a", "\x00", "note")):
        with pytest.raises(Invalid) as refused:
            await revert(store.site, OPERATOR, action.number, reason, note)
        assert refused.value.field == (field,)
    assert everything(redis) == before


def test_actions_are_reverted_but_reverts_purges_and_rejections_of_edits():
    others = set(ModerationKind) - reverts.REVERTERS.keys()

    assert others == {ModerationKind.REVERT, ModerationKind.PURGE, ModerationKind.REJECT_EDIT}


async def logged(store):
    """The entries of all logs about actions and redactions."""
    found = [await log.read(store.site, partition, log.START, count=100) for partition in range(store.site.partitions)]
    return [entry for entries in found for entry in entries if entry.kind in ("moderated", "redacted")]


async def test_redaction_replaces_texts_and_nothing_else(store, redis, alice, clock):
    action = await granted(store, alice, group="show")
    other = (await roles.revoke(store.site, OPERATOR, alice, Role.MODERATOR, group="show", reason="other words")).action
    await revert(store.site, OPERATOR, other.number, "secret words", "a secret note")
    done = (await read_action(store.site, other.number)).reverted_by
    before = await read_action(store.site, done)
    clock.advance(1)
    redacted = (await redact(store.site, OPERATOR, done)).action

    assert redacted == await read_action(store.site, done) == before._replace(reason="[redacted]", note="[redacted]")
    assert (await redact(store.site, OPERATOR, action.number)).action == action._replace(reason="[redacted]")
    entries = await logged(store)
    assert [entry.values["reason"] for entry in entries] == ["other words", "[redacted]", "[redacted]"]
    of_revert = entries[1]
    assert (of_revert.actor, of_revert.subject, of_revert.at) == ("operator", redacted.id, clock.now)
    assert of_revert.values | {"entries": ""} == {
        "action": "revert", "subject_id": "user:alice", "group": "show", "role": "moderator", "reason": "[redacted]",
        "reverts": str(other.number), "moderator": "operator", "at_ms": str(before.at), "entries": "",
    }  # fmt: skip
    assert await verified(store) == []


async def test_redaction_of_one_text_leaves_the_other(store, alice):
    action = await granted(store, alice)
    done = (await revert(store.site, OPERATOR, action.number, "a reason", "a note")).action

    assert (await redact(store.site, OPERATOR, done.number, ["note"])).action == done._replace(note="[redacted]")


async def test_redaction_is_for_admins(store, redis, alice, bob):
    action = await granted(store, alice)
    await granted(store, bob)
    before = everything(redis)

    with pytest.raises(NotAModerator, match="only admins redact"):
        await redact(store.site, await roles.read_authority(store.site, bob), action.number)
    with pytest.raises(NotFound, match="there is no action:1024"):
        await redact(store.site, OPERATOR, 1024)
    assert everything(redis) == before


async def test_consumer_goes_on_after_an_entry_that_was_redacted(store, alice):
    """The redaction removes the entry of the log with the texts, which a consumer may have taken last."""
    action = await granted(store, alice)
    partition = store.site.partition_of_article(action.number)
    last = (await log.read(store.site, partition, log.START, count=100))[-1].id
    await redact(store.site, OPERATOR, action.number)

    assert await log.has_all_after(store.site, partition, last)


async def test_trimmed_entries_of_actions_are_noted_no_more(store, redis, alice):
    """The key `logged` has the ids of entries with texts."""
    await granted(store, alice)
    await log.trim(store.site, kept_ms=0, max_entries=0)

    assert not [key for key in redis.scan_iter("logged:*")]


@pytest.mark.one_server
async def test_full_store_redacts_what_moderators_wrote(store, alice, redis):  # D6
    number = (await granted(store, alice)).number
    with full(redis):
        assert (await redact(store.site, OPERATOR, number)).changed

    assert (await read_action(store.site, number)).reason == REDACTED
