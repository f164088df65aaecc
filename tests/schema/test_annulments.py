"""
Votes that a moderator has annulled, so that they count no more, as moderators and others see it.

Codes such as M7 name rows of docs/behaviours.md.
"""

from datetime import UTC, datetime

import pytest

from archive import annulments
from store import bans, roles
from store.moderation_records import Role
from store.records import Vote
from store.roles import OPERATOR
from tests.conftest import registered
from tests.store.reading import findings, post

ACTION = """kind reason annulledVotes annulment { state done total reachesBackTo }
  subject { ... on User { username } }"""
ANNUL = f"""mutation($input: AnnulVotesInput!) {{ annulVotes(input: $input) {{
  changed action {{ id {ACTION} }} userErrors {{ code field }} }} }}"""
REVERT = f"""mutation($input: RevertModerationInput!) {{ revertModeration(input: $input) {{
  changed action {{ kind reverts {{ {ACTION} }} }} userErrors {{ code field }} }} }}"""
BAN = f"""mutation($input: BanUserInput!) {{ banUser(input: $input) {{
  changed action {{ id {ACTION} }} userErrors {{ code field }} }} }}"""
ARTICLE = """query($id: ID!) { article(id: $id) {
  upvotes downvotes isGood viewerVote voters(first: 9) { nodes { username } } poster { karma } } }"""


@pytest.fixture
async def moderator(store):
    """The token of a moderator of the site, mona."""
    await registered(store, "mona")
    await roles.grant(store.site, OPERATOR, "mona", Role.MODERATOR, group=None, reason="helps")
    return (await store.sessions.open("mona")).token


@pytest.fixture
async def voter(store):
    """The token of Mallory, whose votes are annulled."""
    return (await store.sessions.open(await registered(store, "Mallory"))).token


@pytest.fixture
async def voted(store, alice, bob, voter):
    """An article of Alice's, with an upvote of Mallory and a downvote of bob."""
    found = await post(store, alice)
    await store.articles.vote(found.number, "Mallory", Vote.UP)
    await store.articles.vote(found.number, bob, Vote.DOWN)
    return found


async def test_moderator_annuls_votes_and_restores_them(store, ask, moderator, voter, voted):  # M7
    answer = (await ask(ANNUL, moderator, input={"userId": "user:mallory", "reason": "a ring"}))["data"]["annulVotes"]
    progress = {"state": "DONE", "done": 1, "total": 1, "reachesBackTo": None}
    id = answer["action"].pop("id")
    assert answer == {
        "changed": True,
        "userErrors": [],
        "action": {
            "kind": "ANNUL_VOTES",
            "reason": "a ring",
            "annulledVotes": 1,
            "annulment": progress,
            "subject": {"username": "Mallory"},
        },
    }
    found = (await ask(ARTICLE, voter, id=voted.id))["data"]["article"]
    assert found == {
        **{"upvotes": 1, "downvotes": 1, "isGood": False, "viewerVote": "UP"},
        **{"voters": {"nodes": [{"username": "Alice"}]}, "poster": {"karma": -1}},
    }

    answer = (await ask(REVERT, moderator, input={"actionId": id, "reason": "a mistake"}))["data"]["revertModeration"]
    assert answer["userErrors"] == [] and answer["action"]["reverts"]["annulledVotes"] == 0
    assert answer["action"]["reverts"]["annulment"] == progress | {"state": "RESTORED"}
    found = (await ask(ARTICLE, voter, id=voted.id))["data"]["article"]
    assert (found["upvotes"], found["viewerVote"], found["poster"]) == (2, "UP", {"karma": 0})


async def test_ban_with_votes_is_reverted_and_may_keep_them_annulled(store, ask, moderator, voted):
    given = {"userId": "user:mallory", "reason": "a ring", "annulVotes": True}
    for keeps, state, still_annulled in ((True, "DONE", 1), (False, "RESTORED", 0)):
        banned = (await ask(BAN, moderator, input=given))["data"]["banUser"]
        assert banned["userErrors"] == [] and banned["action"]["annulledVotes"] == 1
        reverted = {"actionId": banned["action"]["id"], "reason": "enough", "keepVotesAnnulled": keeps}
        answer = (await ask(REVERT, moderator, input=reverted))["data"]["revertModeration"]["action"]["reverts"]
        assert (answer["annulment"]["state"], answer["annulledVotes"]) == (state, still_annulled)
        again = (await ask(REVERT, moderator, input=reverted | {"keepVotesAnnulled": False}))["data"][
            "revertModeration"
        ]
        if keeps:
            assert again["action"]["reverts"]["annulment"]["state"] == "RESTORED"
        else:
            assert again["userErrors"] == [{"code": "ALREADY_REVERTED", "field": ["input", "actionId"]}]
    in_group = given | {"group": "show"}
    answer = (await ask(BAN, moderator, input=in_group))["data"]["banUser"]
    assert answer == {
        "changed": False,
        "action": None,
        "userErrors": [{"code": "INVALID", "field": ["input", "annulVotes"]}],
    }


@pytest.mark.parametrize(
    ("given", "code", "field"),
    [
        ({"userId": "user:nobody"}, "NOT_FOUND", "userId"),
        ({"userId": "nobody"}, "INVALID", "userId"),
        ({"userId": "user:mona"}, "NOT_A_MODERATOR", "userId"),
        ({"reason": " "}, "INVALID", "reason"),
        ({"from": "2030-01-01T00:00:00Z"}, "INVALID", "from"),
        ({"from": "2016-01-02T00:00:00Z", "to": "2016-01-01T00:00:00Z"}, "INVALID", "from"),
    ],
)
async def test_bad_input_annuls_nothing(store, ask, moderator, voted, given, code, field):
    answer = await ask(ANNUL, moderator, input={"userId": "user:mallory", "reason": "a ring"} | given)

    assert answer["data"]["annulVotes"] == {
        "changed": False,
        "action": None,
        "userErrors": [{"code": code, "field": ["input", field]}],
    }
    assert (await ask(ARTICLE, None, id=voted.id))["data"]["article"]["upvotes"] == 2


async def test_votes_of_a_span_are_annulled(store, ask, moderator, voted, clock):
    """Without a database a vote counts as cast when its subject was posted."""
    instant = datetime.fromtimestamp(clock.now / 1000, UTC).isoformat()
    clock.advance(10)
    later = datetime.fromtimestamp(clock.now / 1000, UTC).isoformat()
    given = {"userId": "user:mallory", "reason": "a ring"}
    first = (await ask(ANNUL, moderator, input=given | {"from": later}))["data"]["annulVotes"]["action"]
    second = (await ask(ANNUL, moderator, input=given | {"from": instant, "to": later}))["data"]["annulVotes"]["action"]

    assert (first["annulledVotes"], second["annulledVotes"]) == (0, 1)


@pytest.mark.parametrize(
    ("span", "is_annulled"),
    [
        ({"to": "1969-12-31T23:59:59.999Z"}, False),
        ({"from": "0001-01-01T00:00:00Z", "to": "1960-01-01T00:00:00Z"}, False),
        ({"from": "0001-01-01T00:00:00Z"}, True),
    ],
)
async def test_action_whose_span_begins_before_1970_is_sound(store, ask, moderator, voted, span, is_annulled):
    """`verify` would report an instant below 0, and a backup would leave out the action."""
    given = {"userId": "user:mallory", "reason": "a ring"}
    answer = (await ask(ANNUL, moderator, input=given | span))["data"]["annulVotes"]

    assert answer["userErrors"] == []
    assert (answer["action"]["annulledVotes"], answer["action"]["annulment"]["state"]) == (int(is_annulled), "DONE")
    assert await findings(store) == []


async def test_other_actions_have_no_annulment(store, ask, moderator, voted):
    done = await bans.ban(store.site, OPERATOR, "mallory", group=None, until=None, reason="spam")
    assert done.action
    await annulments.begin(store, database=None, number=done.action.number)
    query = f"query($id: ID!) {{ node(id: $id) {{ ... on ModerationAction {{ {ACTION} }} }} }}"
    found = (await ask(query, None, id=done.action.id))["data"]["node"]

    assert (found["kind"], found["annulledVotes"], found["annulment"]) == ("BAN", None, None)
