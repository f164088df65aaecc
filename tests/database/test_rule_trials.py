"""
The command `upvote rules try` replays the texts and votes in the database, and prints what rules would have caught.

`mirrored` brings the database up to date with the log of the store.
"""

import pytest

from database import history
from database.tables import ARTICLES, COMMENTS
from server.cli import rule_trials
from store import roles, rules
from store.articles import Draft
from store.moderation_records import Role
from store.records import ContentState, Vote
from store.roles import OPERATOR
from tests.conftest import registered
from tests.database.conftest import mirrored
from tests.store.held import set_comment_state

RULES = """[flags]
hide_at = 3
[words]
hold = ["cheap pills"]
refuse = ["spam"]
[domains]
hold = ["bad.example"]
[votes]
least_karma = 1
"""


@pytest.mark.parametrize("rows_at_once", [1, 5_000])
async def test_rules_are_tried_on_the_past(
    store, each_database, alice, bob, clock, tmp_path, capsys, monkeypatch, rows_at_once
):
    """The command prints what each table of the rules would have held or refused, also texts that are removed now."""
    monkeypatch.setattr(history, "ROWS_AT_ONCE", rows_at_once)
    await registered(store, "mona")
    await roles.grant(store.site, OPERATOR, "mona", Role.MODERATOR, group=None, reason="helps")
    draft = Draft("Cheap PILLS", "https://www.bad.example/", "and\nspam, " + "so many more words " * 3)
    posted = (await store.articles.post(bob, draft)).article
    clock.advance(1)
    first = (await store.comments.post(posted.number, parent=None, poster=alice, content="harmless")).comment
    gone = (await store.comments.post(posted.number, parent=None, poster=alice, content="spam that is deleted")).comment
    removed = (await store.comments.post(posted.number, parent=first.number, poster=bob, content="more spam")).comment
    await store.comments.post(posted.number, parent=None, poster="mona", content="a moderator writes spam")
    await store.comments.delete(gone.number, alice)
    await set_comment_state(store, removed.number, ContentState.REMOVED)
    clock.advance(1)
    await store.articles.vote(posted.number, alice, Vote.UP)
    clock.advance(1)
    await store.comments.vote(first.number, bob, Vote.DOWN)
    await mirrored(store, each_database)
    (tmp_path / "rules.toml").write_text(RULES)

    await rule_trials.report(rules.read(tmp_path / "rules.toml"), store, each_database)

    shown = "Cheap PILLS"
    assert capsys.readouterr().out.splitlines() == [
        "4 texts and 2 votes of others were replayed; nothing was changed",
        "flags: not tried, as the database does not know what it takes",
        "words: 1 held, 2 refused",
        f"  2016-08-04 {posted.id} bob: {shown}",
        f"  2016-08-04 {posted.id} bob: {shown}",
        f"  2016-08-04 {removed.id} bob: more spam",
        "domains: 1 held",
        f"  2016-08-04 {posted.id} bob: {shown}",
        "votes: 1 refused",
        f"  2016-08-04 {posted.id} Alice: +1",
    ]


@pytest.mark.parametrize("table", [ARTICLES, COMMENTS])
async def test_votes_whose_voters_are_not_known_count_for_the_karma_of_posters(
    store, each_database, alice, bob, clock, tmp_path, capsys, table
):
    posted = (await store.articles.post(alice, Draft("A title", content="Words"))).article
    await store.comments.post(posted.number, parent=None, poster=alice, content="more words")
    of_bob = (await store.articles.post(bob, Draft("Another title", content="Words"))).article
    clock.advance(1)
    await store.articles.vote(of_bob.number, alice, Vote.DOWN)
    await mirrored(store, each_database)
    (tmp_path / "rules.toml").write_text("[downvotes]\nleast_karma = 3")
    imported = table.update().where(table.c.poster == "Alice").values(imported_votes=3)

    for expected in ("downvotes: 1 refused", "downvotes: nothing"):
        await rule_trials.report(rules.read(tmp_path / "rules.toml"), store, each_database)
        assert expected in capsys.readouterr().out.splitlines()
        await each_database.write(lambda connection: connection.execute(imported))
