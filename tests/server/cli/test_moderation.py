"""The commands `upvote role`, for the roles of moderators and admins, and `upvote moderation`, for what they did."""

import asyncio
from datetime import UTC, datetime

import pytest

from server.cli.main import main
from store import reverts, roles
from store.moderation_records import Role
from store.roles import OPERATOR
from store.store import Store
from tests.conftest import registered

pytestmark = pytest.mark.one_server  # not run on a cluster of Valkey servers


@pytest.fixture
def on_store(redis_url, monkeypatch):
    """A function that runs an action on a store with Alice and Bob, which the commands work on."""
    monkeypatch.setenv("UPVOTE_REDIS_URL", redis_url)

    def on_store(action):
        async def run():
            store = await Store.open(redis_url)
            try:
                return await action(store)
            finally:
                await store.close()

        return asyncio.run(run())

    async def register(store):
        for name in ("Alice", "bob"):
            await registered(store, name)

    on_store(register)
    return on_store


def test_roles_are_granted_listed_and_revoked(on_store, capsys):
    assert main(["role", "grant", "alice", "ADMIN", "--reason", "the first"]) == 0
    assert main(["role", "grant", "alice", "ADMIN"]) == 0
    assert main(["role", "grant", "bob", "MODERATOR", "--group", "Show"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "alice is an ADMIN of the whole site",
        "alice is an ADMIN of the whole site already",
        "bob is a MODERATOR of the group show",
    ]
    assert main(["role", "list"]) == 0
    shown = [line.rsplit("  ", 1)[0] for line in capsys.readouterr().out.splitlines()]
    assert shown == ["Alice  ADMIN  whole site", "bob  MODERATOR  show"]
    assert main(["role", "revoke", "bob", "MODERATOR", "--group", "show"]) == 0
    assert capsys.readouterr().out == "bob is no longer a MODERATOR of the group show\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["grant", "nobody", "ADMIN"], "there is no user:nobody"),
        (["grant", "bob", "ADMIN", "--group", "show"], "an admin is one of the whole site: a group has moderators"),
        (["revoke", "bob", "MODERATOR"], "bob is not a MODERATOR of the whole site"),
        (["revoke", "alice", "ADMIN"], "alice is the last admin"),
    ],
)
def test_refused_grants_and_revocations_are_reported(on_store, capsys, arguments, message):
    on_store(lambda store: roles.grant(store.site, OPERATOR, "alice", Role.ADMIN, group=None, reason="the first"))

    assert main(["role", *arguments]) == 2
    assert capsys.readouterr().err == f"upvote: {message}\n"


def test_all_that_a_moderator_did_since_a_time_is_reverted(on_store, capsys):
    async def act(store):
        await roles.grant(store.site, OPERATOR, "alice", Role.ADMIN, group=None, reason="the first")
        early = await roles.grant(store.site, "Alice", "bob", Role.MODERATOR, group="early", reason="a reason")
        await asyncio.sleep(0.01)
        since = store.site.clock()
        done = [
            await roles.grant(store.site, "Alice", "bob", Role.MODERATOR, group=f"g{n}", reason="a reason")
            for n in range(3)
        ]
        own = await reverts.revert(store.site, "Alice", done[0].action.number, "a mistake")
        await roles.grant(store.site, OPERATOR, "bob", Role.MODERATOR, group=None, reason="of others")
        return since, early.action, [each.action for each in done], own.action

    since, early, done, own = on_store(act)
    at = datetime.fromtimestamp(since / 1000, UTC).isoformat()

    assert main(["moderation", "revert", "--by", "alice", "--since", at]) == 1
    captured = capsys.readouterr()
    assert captured.err == f"{own.id} is of the kind REVERT, which cannot be reverted\n"
    assert captured.out.splitlines() == [
        f"reverted {done[2].id}: GRANT_ROLE user:bob",
        f"reverted {done[1].id}: GRANT_ROLE user:bob",
        "2 of alice reverted, 1 not",
    ]
    assert main(["moderation", "revert", "--by", "alice", "--since", at]) == 1
    assert capsys.readouterr().out == "0 of alice reverted, 1 not\n"
    assert main(["moderation", "revert", "--by", "Carol", "--since", at]) == 2
    assert capsys.readouterr().err == "upvote: there is no user:carol\n"

    async def left(store):
        found = [await reverts.read_action(store.site, each.number) for each in (early, *done)]
        granted_groups = [
            group for group in ("early", "g0", "g1", "g2", None) if await roles.granted(store.site, group)
        ]
        return [bool(each.reverted_by) for each in found], granted_groups

    assert on_store(left) == ([False, True, True, True], ["early", None])


def test_action_is_redacted(on_store, capsys):
    action = on_store(
        lambda store: roles.grant(store.site, OPERATOR, "bob", Role.MODERATOR, group=None, reason="secret")
    ).action

    assert main(["moderation", "redact", action.id, "--only", "reason"]) == 0
    assert capsys.readouterr().out == f"redacted {action.id}\n"
    assert on_store(lambda store: reverts.read_action(store.site, action.number)) == action._replace(
        reason="[redacted]"
    )
    assert main(["moderation", "redact", "action:1024"]) == 2
    assert capsys.readouterr().err == "upvote: there is no action:1024\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["revert", "--by", "no name", "--since", "2026-01-01"], "no name is no username"),
        (["revert", "--by", "bob", "--since", "noon"], "noon is no time such as 2026-11-23T14:00:00Z"),
        (["redact", "article:1024"], "article:1024 is no id of an action, such as action:1541"),
    ],
)
def test_wrong_arguments_are_reported(capsys, arguments, message):
    with pytest.raises(SystemExit):
        main(["moderation", *arguments])

    assert message in capsys.readouterr().err
