"""
The command `upvote rings`, which finds rings: accounts that vote for each other. What it finds is kept in the database
and shown to moderators of the site, with the places to which articles would move if the votes of a ring were annulled.

`mirrored` brings the database up to date with the log of the store. `on_both` runs a test with SQLite and with
PostgreSQL.
"""

import sys
from collections.abc import AsyncIterator

import httpx
import pytest

from archive import annulments as archive_annulments
from database import leaving
from database import rings as kept
from engine import Client, Endpoint, Options
from resolvers.context import Context
from schema.schema import SCHEMA
from server.app import CODES
from server.cli import rings
from server.cli.main import main
from store import annulments, bans, reverts, roles
from store.moderation_records import Role
from store.records import Vote
from store.roles import OPERATOR
from tests.conftest import registered
from tests.database.conftest import mirrored, on_both
from tests.server.commands import run
from tests.store.reading import post

RING = tuple(f"Ring-{number}" for number in range(5))
RING_OF = """query($id: ID!) { node(id: $id) { ... on User { username votingRing {
  id foundAt memberCount votes expected coverage articleVotes commentVotes moved members { id }
  annulledMembers { id }
  moves { id votes place newPlace article { id } } } } } }"""


@pytest.fixture
async def http(store, each_database) -> AsyncIterator[httpx.AsyncClient]:
    def open_context(client: Client) -> Context:
        return Context(store, client.token, database=each_database)

    transport = httpx.ASGITransport(Endpoint(SCHEMA, open_context, CODES, Options()))
    async with httpx.AsyncClient(transport=transport, base_url="http://upvote") as client:
        yield client


async def asked(http: httpx.AsyncClient, token: str | None, id: str = "user:ring-0"):
    """The ring of a user as the owner of a token is shown it; None if there is none, or it is not shown."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    response = await http.post("/", json={"query": RING_OF, "variables": {"id": id}}, headers=headers)
    return response.json()["data"]["node"]["votingRing"]


async def token_of(store, name: str, role: Role | None = None, group: str | None = None) -> str:
    await registered(store, name)
    if role:
        await roles.grant(store.site, OPERATOR, name, role, group=group, reason="helps")
    return (await store.sessions.open(name)).token


async def fill(store) -> list[int]:
    """
    Post sixty articles of honest users with five votes each, and three of each member of a ring with the votes of all
    its members. Return the numbers of the ring's articles.
    """
    honest = [f"user-{number}" for number in range(40)]
    for name in (*honest, *RING):
        await registered(store, name)
    for number in range(60):
        poster = honest[number % len(honest)]
        article = await post(store, poster, f"title {number}")
        for step in range(1, 6):
            await store.articles.vote(article.number, honest[(number * 7 + step * step * 3) % len(honest)], Vote.UP)
    planted = [await post(store, name, f"{name} {turn}") for turn in range(3) for name in RING]
    for article in planted:
        for voter in RING:
            if voter != article.poster:
                await store.articles.vote(article.number, voter, Vote.UP)
    comment = (await store.comments.post(planted[0].number, parent=None, poster=RING[0], content="a text")).comment
    await store.comments.vote(comment.number, RING[1], Vote.UP)
    return [article.number for article in planted]


@on_both
async def test_ring_is_found_kept_and_shown_to_moderators_only(store, each_database, http, capsys):
    planted = await fill(store)
    site_moderator = await token_of(store, "mona", Role.MODERATOR)
    others = [await token_of(store, "gina", Role.MODERATOR, "show"), await token_of(store, "vera"), None]
    await mirrored(store, each_database)
    assert await asked(http, site_moderator) is None  # nobody has searched yet

    await rings._search(store, each_database, is_dry=False)

    printed = capsys.readouterr().out
    assert "rings: 1" in printed
    assert "ring 1, 5 accounts: Ring-0, Ring-1, Ring-2, Ring-3, Ring-4" in printed
    assert "annulling all their votes takes 60 on articles and 1 on comments" in printed
    found = await asked(http, site_moderator)
    moves = found.pop("moves")
    # `expected` are the votes that chance explains; a ring has at least 1.5 times as many
    assert 0 < found.pop("expected") < 61 / 1.5 and found.pop("moved") >= len(moves) > 0
    assert found == {
        "id": "ring:1", "foundAt": "2016-08-04T11:52:00.000Z", "memberCount": 5, "votes": 61, "coverage": 1.0,
        "articleVotes": 60, "commentVotes": 1, "members": [{"id": f"user:ring-{number}"} for number in range(5)],
        "annulledMembers": [],
    }  # fmt: skip
    assert all(move["votes"] == 4 and move["place"] < move["newPlace"] for move in moves)
    assert {move["article"]["id"] for move in moves} <= {f"article:{number}" for number in planted}
    assert await asked(http, site_moderator, "user:user-1") is None
    assert [await asked(http, token) for token in others] == [None, None, None]


@on_both
async def test_moves_of_a_ring_are_those_that_annulling_its_votes_makes(store, each_database, http):
    await fill(store)
    token = await token_of(store, "mona", Role.MODERATOR)
    await mirrored(store, each_database)
    await rings._search(store, each_database, is_dry=False)
    found = await asked(http, token)
    query = {"query": "{ articles(first: 75, order: SCORE) { nodes { id } } }"}
    before = [node["id"] for node in (await http.post("/", json=query)).json()["data"]["articles"]["nodes"]]
    for move in found["moves"]:
        assert before.index(move["article"]["id"]) == move["place"] - 1

    for name in RING:
        action = (await annulments.annul(store.site, OPERATOR, name, since=None, until=None, reason="a ring")).action
        await archive_annulments.settle(store, database=None, number=action.number)

    after = [node["id"] for node in (await http.post("/", json=query)).json()["data"]["articles"]["nodes"]]
    moved = {id for id in before if before.index(id) != after.index(id)}
    assert len(after) == 75 and moved
    for move in found["moves"]:
        assert after.index(move["article"]["id"]) == move["newPlace"] - 1
    await mirrored(store, each_database)
    await rings._search(store, each_database, is_dry=False)
    assert await asked(http, token) is None  # annulled votes make no ring


@on_both
async def test_annulled_members_are_those_of_whom_no_vote_counts(store, each_database, http, clock):
    await fill(store)
    token = await token_of(store, "mona", Role.MODERATOR)
    await mirrored(store, each_database)

    async def annul(name: str, since: int | None = None) -> int:
        return (
            await annulments.annul(store.site, OPERATOR, name, since=since, until=None, reason="a ring")
        ).action.number

    clock.advance(60)
    await annul(RING[0])  # before the search: not of what is cast after it
    clock.advance(60)
    await rings._search(store, each_database, is_dry=False)
    found_at = store.site.clock()
    assert (await asked(http, token))["annulledMembers"] == []
    clock.advance(60)
    await annul(RING[1], found_at - 90_000)  # of some votes only
    await bans.ban(store.site, OPERATOR, RING[2], group=None, until=None, reason="a ring", annuls_votes=True)
    reverted = await annul(RING[3])
    await annul(RING[4])
    annulled = (await asked(http, token))["annulledMembers"]
    assert [user["id"] for user in annulled] == ["user:ring-2", "user:ring-3", "user:ring-4"]

    await reverts.revert(store.site, OPERATOR, reverted, "no ring")

    assert [user["id"] for user in (await asked(http, token))["annulledMembers"]] == ["user:ring-2", "user:ring-4"]


@on_both
async def test_annulled_member_stays_one_after_many_other_actions(store, each_database, http, clock):
    await fill(store)
    token = await token_of(store, "mona", Role.MODERATOR)
    await mirrored(store, each_database)
    await rings._search(store, each_database, is_dry=False)
    for name in RING[:2]:
        if name == RING[0]:
            await annulments.annul(store.site, OPERATOR, name, since=None, until=None, reason="a ring")
        for _ in range(22):  # two actions each
            clock.advance(1)
            ban = (await bans.ban(store.site, OPERATOR, name, group=None, until=None, reason="a ring")).action
            await reverts.revert(store.site, OPERATOR, ban.number, "no ring")

    assert [user["id"] for user in (await asked(http, token))["annulledMembers"]] == ["user:ring-0"]


@on_both
async def test_deleted_member_has_a_pseudonym(store, each_database, http):
    await fill(store)
    token = await token_of(store, "mona", Role.MODERATOR)
    await mirrored(store, each_database)
    await rings._search(store, each_database, is_dry=False)

    await each_database.write(leaving.replace, "Ring-0", "~abcdefghijkl")

    assert (await asked(http, token, "user:ring-1"))["members"][-1]["id"] == "user:~abcdefghijkl"
    found = await each_database.run(kept.of_users, ["~abcdefghijkl", "Ring-1", "user-1"])
    assert found.keys() == {"~abcdefghijkl", "Ring-1"}
    assert (await asked(http, token, "user:ring-1"))["annulledMembers"] == []
    await rings._search(store, each_database, is_dry=False)  # its votes are those of the pseudonym now
    assert (await each_database.run(kept.of_users, ["~abcdefghijkl"]))["~abcdefghijkl"].member_count == 5


async def test_dry_run_keeps_nothing(store, database, capsys):
    await fill(store)
    await mirrored(store, database)

    await rings._search(store, database, is_dry=True)

    assert "rings: 1" in capsys.readouterr().out
    assert await database.run(kept.of_users, list(RING)) == {}


def test_missing_numpy_is_reported(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "numpy", None)
    monkeypatch.setenv("UPVOTE_DATA_DIR", str(tmp_path))

    assert main(["rings"]) == 2
    assert capsys.readouterr().err == (
        "upvote: the search for rings needs numpy: .venv/bin/pip install -e '.[rings]'\n"
    )


@pytest.mark.slow
def test_without_a_database_nothing_is_searched(tmp_path):
    ended = run("rings", data_dir=tmp_path, database_url="none")

    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "upvote: UPVOTE_DATABASE_URL=none: only the database knows who has voted on what\n"
