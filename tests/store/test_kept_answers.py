"""
Calls that are sent again after their replies were lost: they have the first answer, and undo nothing that was changed
since. `client/test_failures.py` loses the replies of each command.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from store import kept_answers, keys, mails, profiles, purges
from store.articles import EDIT, REGROUP
from store.client import Command
from store.comments import EDIT_COMMENT
from store.groups import EDIT_GROUP
from store.mails import TAKE_MAIL
from store.profiles import EDIT_PROFILE
from store.purges import PURGE
from store.reserved_names import ReservedNames
from store.roles import OPERATOR
from store.scripts.registry import Script
from store.server_keys import SERVER_KEY
from store.store import Store
from store.users import CREATE_USER
from tests.store.discussions import commented
from tests.store.reading import everything, post

pytestmark = pytest.mark.one_server

Call = Callable[[], Awaitable[Any]]


async def sent(store: Store, monkeypatch: pytest.MonkeyPatch, script: Script, call: Call) -> tuple[Command, Any]:
    """Make a call, and return the command by which it runs a script, and the reply."""
    server = store.site.redis._server
    send, found = server.send, list[tuple[Command, Any]]()

    async def send_and_note(commands: Sequence[Command]) -> list[Any]:
        replies = await send(commands)
        found.extend(pair for pair in zip(commands, replies, strict=True) if pair[0][1] in (script.digest, script.text))
        return replies

    monkeypatch.setattr(server, "send", send_and_note)
    await call()
    monkeypatch.undo()
    return found[-1]


async def edits(store: Store, name: str) -> dict[str, tuple[Script, Call, Call]]:
    """By kind: a script that changes something, a call of it, and another call that changes the same thing."""
    articles, comments, groups, site, none = store.articles, store.comments, store.groups, store.site, ReservedNames()
    article = await post(store, name, groups=["show"])
    comment = await commented(store, article.number, name)
    return {
        "article": (
            EDIT,
            lambda: articles.edit(article.number, name, {"title": "first"}),
            lambda: articles.edit(article.number, name, {"title": "second"}),
        ),
        "comment": (
            EDIT_COMMENT,
            lambda: comments.edit(comment.number, name, "first"),
            lambda: comments.edit(comment.number, name, "second"),
        ),
        "groups": (
            REGROUP,
            lambda: articles.regroup(article.number, name, add=["ask"], remove=["show"]),
            lambda: articles.regroup(article.number, name, add=["show"], remove=["ask"]),
        ),
        "profile": (
            EDIT_PROFILE,
            lambda: profiles.edit(site, name, {"about": "first"}, none),
            lambda: profiles.edit(site, name, {"about": "second"}, none),
        ),
        "group": (
            EDIT_GROUP,
            lambda: groups.add("show", {"title": "first"}),
            lambda: groups.add("show", {"title": "second"}),
        ),
        "created key": (
            SERVER_KEY,
            lambda: store.server_keys.create("shop"),
            lambda: store.server_keys.revoke("shop"),
        ),
    }  # fmt: skip


KINDS = ("article", "comment", "groups", "profile", "group", "created key")


@pytest.mark.parametrize("kind", KINDS)
async def test_change_that_is_sent_again_undoes_nothing_since(store, alice, redis, monkeypatch, kind):
    script, first, second = (await edits(store, alice))[kind]
    command, reply = await sent(store, monkeypatch, script, first)
    await second()
    before = everything(redis)
    again = await store.site.redis.run(command)

    assert again[0] == reply[0]
    assert everything(redis) == before


@pytest.mark.parametrize("kind", KINDS)
async def test_kept_answer_has_no_text(store, alice, redis, monkeypatch, kind):
    """A purge, which deletes a text for good, would leave it there."""
    script, first, _ = (await edits(store, alice))[kind]
    await sent(store, monkeypatch, script, first)

    answers = [redis.get(key) for key in redis.scan_iter(f"{kept_answers.answer.name}:*")]
    assert answers and not any("first" in each for each in answers)


async def test_what_is_done_once_has_its_answer_again(store, alice, redis, monkeypatch):
    article = await post(store, alice)
    await mails.ask_for_reset(store.site, alice)
    (waiting,) = await mails.due(store.site, 1)
    await store.server_keys.create("shop")
    once = {
        CREATE_USER: lambda: store.users.create("zoe"),
        PURGE: lambda: purges.purge(store.site, OPERATOR, article.number, "a secret"),
        TAKE_MAIL: lambda: mails.take(store.site, waiting),
        SERVER_KEY: lambda: store.server_keys.revoke("shop"),
    }
    for script, call in once.items():
        command, reply = await sent(store, monkeypatch, script, call)
        before = everything(redis)

        assert await store.site.redis.run(command) == reply
        assert everything(redis) == before
    assert redis.hget(keys.user(store.site.partition_of_user("zoe"), "zoe"), "name") == "zoe"
