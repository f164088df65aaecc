"""
Bans that remove texts, of which some are archived (in the database only), as clients make and revert them.

A `pair` is two stores with the same history, of which one archives. What `ask` sends to both has to have the same
answer in both, and `ask` returns it.

Codes such as M2 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import pytest

from archive import banned_texts
from store import roles
from store.moderation_records import Role
from tests.archive.queries import ERRORS
from tests.archive.queries import LISTINGS as QUERIES
from tests.archive.talks import NODES, let_leave, write
from tests.archive.worlds import PEOPLE, Pair

pytestmark = [pytest.mark.one_server, pytest.mark.parametrize("partitions", [1], indirect=True)]

ACTION = "changed action { id kind subjectId ban { id } }"
BAN = f"mutation($input: BanUserInput!) {{ banUser(input: $input) {{ {ERRORS} {ACTION} }} }}"
REVERT = f"mutation($input: RevertModerationInput!) {{ revertModeration(input: $input) {{ {ERRORS} {ACTION} }} }}"
LOG = """query($id: ID!) { moderationLog(subjectId: $id, first: 9) {
  nodes { kind subjectId ban { kind } group { name } } } }"""


@pytest.fixture
async def moderated(pair: Pair) -> Pair:
    """Three articles of Alice and two of Bob are archived, and one of each is not; all are in groups."""
    pair.crashes = False
    for world in pair.worlds:
        await roles.grant(world.store.site, roles.OPERATOR, "carol", Role.MODERATOR, group=None, reason="a good eye")
    for poster, groups in (
        ("alice", ["show"]),
        ("Bob", ["show"]),
        ("alice", ["show", "ask"]),
        ("alice", ["ask"]),
        ("Bob", []),
    ):
        await pair.mutate("post", poster, title=f"Of {poster}", content="A text.", groups=groups)
        pair.clock.advance(30)
    await pair.archive_all()
    assert len(pair.archived) == 5
    for poster in ("alice", "Bob"):
        await pair.mutate("post", poster, title=f"New of {poster}", content="A text.", groups=["show"])
        pair.clock.advance(30)
    return pair


async def shown(pair: Pair) -> list[dict]:
    """Answers with pages of all articles, of the timelines of Alice and Bob, and of the groups show and ask."""
    found = [await pair.ask(QUERIES["articles"], None, first=20)]
    found += [await pair.ask(QUERIES["timeline"], None, first=20, name=name) for name in PEOPLE[:2]]
    return found + [await pair.ask(QUERIES["group"], None, first=20, name=name) for name in ("show", "ask")]


def titles(page: dict) -> list[str]:
    (found,) = page["data"].values()
    return [edge["node"]["title"] for edge in found.get("listing", found)["edges"]]


@pytest.mark.parametrize("group", [None, "show"])
async def test_archived_texts_are_removed_with_a_ban_and_come_back(moderated: Pair, group) -> None:  # M2, M3
    pair, before = moderated, await shown(moderated)
    given = {"userId": "user:alice", "removeTexts": True, "reason": "spam"} | ({"group": group} if group else {})
    answer = (await pair.ask(BAN, "carol", input=given))["data"]["banUser"]
    assert (answer["changed"], answer["userErrors"]) == (True, [])
    pages = await shown(pair)
    of_all, _, _, of_show, _ = pages
    assert titles(of_all) == (["New of Bob", "Of Bob", "Of Bob"] if group is None else [
        "New of Bob", "Of Bob", "Of alice", "Of alice", "Of Bob",
    ])  # fmt: skip
    assert titles(of_show) == ["New of Bob", "Of Bob"]
    logged = (await pair.ask(LOG, None, id=f"article:{min(pair.archived)}"))["data"]["moderationLog"]["nodes"]
    assert [(each["kind"], each["ban"], each["group"]) for each in logged] == [("REMOVE", {"kind": "BAN"}, None)]

    pair.clock.advance(30)
    reverted = {"actionId": answer["action"]["id"], "reason": "a mistake"}
    answer = (await pair.ask(REVERT, "carol", input=reverted))["data"]["revertModeration"]
    assert (answer["changed"], answer["userErrors"]) == (True, [])
    for world in pair.worlds:
        await banned_texts.WORK.settle_all(world.store, world.database, partition=0)
    assert await shown(pair) == before


async def test_articles_that_were_archived_after_a_ban_come_back_into_its_group(moderated: Pair) -> None:  # M3
    pair, before = moderated, await shown(moderated)
    given = {"userId": "user:alice", "removeTexts": True, "reason": "spam", "group": "show"}
    answer = (await pair.ask(BAN, "carol", input=given))["data"]["banUser"]
    await pair.archive_all()
    assert [titles(page) for page in await shown(pair)] != [titles(page) for page in before]

    reverted = {"actionId": answer["action"]["id"], "reason": "a mistake"}
    answer = (await pair.ask(REVERT, "carol", input=reverted))["data"]["revertModeration"]
    assert (answer["changed"], answer["userErrors"]) == (True, [])
    for world in pair.worlds:
        await banned_texts.WORK.settle_all(world.store, world.database, partition=0)
    assert [titles(page) for page in await shown(pair)] == [titles(page) for page in before]


async def test_comments_stay_on_an_archived_article_that_only_leaves_the_group_of_the_ban(pair: Pair) -> None:  # M2
    for world in pair.worlds:
        await roles.grant(world.store.site, roles.OPERATOR, "carol", Role.MODERATOR, group=None, reason="a good eye")
    of_both = (await pair.mutate("post", "alice", title="In both", content="A text.", groups=["show", "ask"]))[
        "article"
    ]
    of_show = (await pair.mutate("post", "alice", title="In one", content="A text.", groups=["show"]))["article"]
    pair.clock.advance(1)
    comments = [
        (await write(pair, "comment", "alice", articleId=each["id"], content="one"))["comment"]["id"]
        for each in (of_both, of_show)
    ]
    await let_leave(pair, of_both["id"], of_show["id"])

    given = {"userId": "user:alice", "removeTexts": True, "reason": "spam", "group": "show"}
    assert (await pair.ask(BAN, "carol", input=given))["data"]["banUser"]["changed"]

    (page,) = (await pair.ask(LOG, None, id=comments[0]))["data"].values()
    assert page["nodes"] == []
    (page,) = (await pair.ask(LOG, None, id=comments[1]))["data"].values()
    assert [each["kind"] for each in page["nodes"]] == ["REMOVE"]
    await pair.ask(NODES, None, ids=comments)
