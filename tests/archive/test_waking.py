"""
Old conversations are articles with their comments that have left Redis for the database. These tests are about what
wakes them, which is to bring them back to Redis, such as a comment; how many may come back; and what wakes none (D5).

A `pair` is two stores with the same history: in `pair.archiving` conversations leave, in `pair.complete` none does.
`talked` posts an article in the group show, with two comments of carol, and `let_leave` lets it leave. `ask` and
`write` send the same to both stores, and check that the answers are equal. `woken_a_day` is how many a user may bring
back, `woken_comments` how many comments of woken conversations Redis has room for.

`on_both` runs a test with SQLite and with PostgreSQL.

Codes such as D5 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

from typing import Any

import pytest

from resolvers.rate_limits import WriteRates
from store import conversations, roles
from store.moderation_records import Role
from store.records import article_number
from tests.archive.conftest import findings
from tests.archive.talks import DAY, MUTATIONS, NODES, REVERT, THREAD, let_leave, talked, write
from tests.archive.worlds import Pair, World
from tests.database.conftest import on_both, rebuilt

pytestmark = [pytest.mark.one_server]
NEWEST = "9999999999999-0"  # a position of the log after all entries
APPEAL = """mutation($input: AppealInput!) { appeal(input: $input) { action { id }
  userErrors { code field params { value } } } }"""
LIMITED = """mutation($input: CommentInput!) { comment(input: $input) { comment { id }
  userErrors { code message params { name value } ... on RateLimited { retryAt } } } }"""


async def comment(world: World, who: str, article: str, text: str = "late") -> dict[str, Any]:
    """The answer about a comment in the store that archives."""
    return await world.ask(LIMITED, who, {"input": {"articleId": article, "content": text}})


@on_both
async def test_refusals_are_those_of_a_conversation_that_stays_in_redis(pair: Pair) -> None:  # D5
    for world in pair.worlds:
        await roles.grant(world.store.site, roles.OPERATOR, "alice", Role.ADMIN, group=None, reason="looks after it")
    article, first = await talked(pair, "alice")
    await write(pair, "removeContent", "alice", subjectId=first, reason="off topic")
    await write(pair, "lockArticle", "alice", articleId=article, reason="enough")
    for group, who in (("show", "Dave"), ("ask", "erin")):
        await write(pair, "banUser", "alice", userId=f"user:{who.lower()}", group=group, reason="noise")
    await let_leave(pair, article)
    given = {"articleId": article, "content": "late"}

    codes = []
    for who in ("Dave", "erin"):
        for parent in (None, first, "comment:1541"):
            payload = await write(pair, "comment", who, **given | {"parentId": parent})
            codes.append([error["code"] for error in payload["userErrors"]])
        vote = await write(pair, "voteOnComment", who, commentId=first, value="UP")
        codes.append([error["code"] for error in vote["userErrors"]])

    assert codes[:4] == [["BANNED"]] * 3 + [["VOTING_CLOSED"]]
    assert codes[4:] == [["LOCKED"], ["FORBIDDEN"], ["NOT_FOUND"], ["VOTING_CLOSED"]]
    assert article_number(article) not in await pair.archiving.numbers()


@on_both
async def test_the_revert_of_a_ban_reaches_comments_that_have_left(pair: Pair) -> None:  # D5
    for world in pair.worlds:
        await roles.grant(world.store.site, roles.OPERATOR, "alice", Role.ADMIN, group=None, reason="looks after it")
    article, first = await talked(pair, "alice")
    banned = await write(pair, "banUser", "alice", userId="user:carol", reason="noise", removeTexts=True)
    await let_leave(pair, article)

    given = {"actionId": banned["action"]["id"], "reason": "no noise"}
    answer = await pair.ask(REVERT, "alice", input=given)

    assert answer["data"]["revertModeration"]["changed"]
    nodes = (await pair.ask(NODES, None, ids=[first]))["data"]["nodes"]
    assert [node["state"] for node in nodes] == ["VISIBLE"]


@on_both
async def test_deleted_comments_that_have_left_survive_a_rebuild(pair: Pair) -> None:  # D5
    """The log still has the entries of their deletions."""
    article, first = await talked(pair, "alice")
    answer = await write(pair, "comment", "Bob", articleId=article, content="an answer", parentId=first)
    await write(pair, "comment", "carol", articleId=article, content="below", parentId=answer["comment"]["id"])
    await write(pair, "deleteComment", "Bob", commentId=answer["comment"]["id"])
    await let_leave(pair, article)
    assert pair.archiving.database
    await rebuilt(pair.archiving.store, pair.archiving.database)

    await pair.ask(THREAD, None, id=article)
    assert await findings(pair.archiving) == []
    assert (await write(pair, "deleteComment", "carol", commentId=first))["userErrors"] == []


@on_both
async def test_a_repeated_comment_gives_the_one_that_has_left(pair: Pair) -> None:  # D5
    article, _ = await talked(pair, "alice")
    given = {"articleId": article, "content": "said once", "idempotencyKey": "a key"}
    said = await write(pair, "comment", "Bob", **given)
    await let_leave(pair, article, days=0)  # before the key is forgotten

    again = await write(pair, "comment", "Bob", **given)

    assert said["comment"] and again["comment"]["id"] == said["comment"]["id"]
    assert article_number(article) not in await pair.archiving.numbers()


@on_both
async def test_a_user_brings_a_limited_number_of_conversations_back_in_a_day(pair: Pair) -> None:  # D5
    articles = [(await talked(pair, poster))[0] for poster in ("alice", "Bob", "alice")]
    await let_leave(pair, *articles)
    world = pair.archiving
    world.address, world.rates = "192.0.2.1", WriteRates(woken_a_day=2)

    answers = [await comment(world, "erin", id, f"{n}") for n in range(2) for id in articles]

    errors = [answer["data"]["comment"]["userErrors"] for answer in answers]
    assert [len(each) for each in errors] == [0, 0, 1, 0, 0, 1]
    (refused,) = errors[2]
    assert refused["code"] == "RATE_LIMITED" and refused["retryAt"]
    assert refused["message"].startswith("you have brought 2 old conversations back")
    assert refused["params"] == [{"name": "conversations", "value": "2"}]
    assert article_number(articles[2]) not in await world.numbers()

    assert (await comment(world, "frank", articles[2]))["data"]["comment"]["userErrors"] == []
    await let_leave(pair, *articles)
    assert (await comment(world, "erin", articles[2]))["data"]["comment"]["userErrors"] == []


@on_both
async def test_only_whom_an_action_is_about_brings_a_conversation_back_by_an_appeal(pair: Pair) -> None:  # D5
    for world in pair.worlds:
        await roles.grant(world.store.site, roles.OPERATOR, "alice", Role.ADMIN, group=None, reason="looks after it")
    removals, articles = [], []
    for _ in range(2):
        article, first = await talked(pair, "Bob")
        removed = await write(pair, "removeContent", "alice", subjectId=first, reason="off topic")
        articles.append(article)
        removals.append(removed["action"]["id"])
    locked = await write(pair, "lockArticle", "alice", articleId=articles[0], reason="enough")
    await let_leave(pair, *articles)
    world = pair.archiving
    world.address, world.rates = "192.0.2.1", WriteRates(woken_a_day=1)

    async def appeal(who: str, action: str) -> list[dict[str, Any]]:
        answer = await world.ask(APPEAL, who, {"input": {"actionId": action, "text": "It was on topic."}})
        errors: list[dict[str, Any]] = answer["data"]["appeal"]["userErrors"]
        return errors

    forbidden = {"code": "FORBIDDEN", "field": ["input", "actionId"], "params": []}
    assert [await appeal("frank", each) for each in (*removals, locked["action"]["id"])] == [[forbidden]] * 3
    assert not {article_number(id) for id in articles} & await world.numbers()

    assert await appeal("carol", removals[0]) == []
    (limited,) = await appeal("carol", removals[1])
    assert (limited["code"], limited["params"]) == ("RATE_LIMITED", [{"value": "1"}])
    assert {article_number(id) for id in articles} & await world.numbers() == {article_number(articles[0])}


@on_both
async def test_conversations_that_came_back_share_the_room_for_their_comments(pair: Pair) -> None:  # D5
    articles, firsts = zip(*[await talked(pair, poster) for poster in ("alice", "Bob", "erin")], strict=True)
    world, site = pair.archiving, pair.archiving.store.site
    await roles.grant(site, roles.OPERATOR, "alice", Role.ADMIN, group=None, reason="looks after it")
    object.__setattr__(site, "woken_comments", 5)  # each has two
    await let_leave(pair, *articles)

    answers = [await comment(world, "frank", id) for id in articles]

    assert [bool(answer["errors"]) for answer in answers] == [False, False, True]
    (error,) = answers[2]["errors"]
    assert error["extensions"]["code"] == "UNAVAILABLE" and f"{articles[2]} is archived" in error["message"]
    assert article_number(articles[2]) not in await world.numbers()

    given = {"input": {"subjectId": firsts[2], "reason": "off topic"}}
    assert (await world.ask(MUTATIONS["removeContent"], "alice", given))["data"]["removeContent"]["changed"]
    woken = [
        each for partition in range(site.partitions) for each in await conversations.that_came_back(site, partition)
    ]
    assert sorted(woken) == sorted(article_number(id) for id in articles)

    pair.clock.advance(3 * DAY)
    # within the limits: they leave because they have left before
    await pair.run_mover(articles=1_000, articles_per_user=1_000)
    assert not {article_number(id) for id in articles} & await world.numbers()
    assert not (await comment(world, "frank", articles[2]))["errors"]


@on_both
async def test_a_conversation_without_enough_room_comes_back_alone(pair: Pair) -> None:  # D5
    (article, _), (other, _) = [await talked(pair, poster) for poster in ("alice", "Bob")]
    world, site = pair.archiving, pair.archiving.store.site
    object.__setattr__(site, "woken_comments", 1)  # each has two
    await let_leave(pair, article, other)

    assert not (await comment(world, "frank", article))["errors"]
    (error,) = (await comment(world, "frank", other))["errors"]

    assert error["extensions"]["code"] == "UNAVAILABLE"
    await let_leave(pair, article, other)
    assert not (await comment(world, "frank", other))["errors"]
    await let_leave(pair, other)
    object.__setattr__(site, "woken_comments", 0)
    assert (await comment(world, "frank", other))["errors"]


@on_both
async def test_flags_count_toward_the_conversations_that_a_user_brings_back(pair: Pair) -> None:  # D5
    talks = [await talked(pair, poster) for poster in ("alice", "Bob")]
    await let_leave(pair, *(article for article, _ in talks))
    world = pair.archiving
    world.address, world.rates = "192.0.2.1", WriteRates(woken_a_day=1)
    flag = """mutation($input: FlagInput!) { flag(input: $input) { subject { id } userErrors { code } } }"""

    answers = [await world.ask(flag, "erin", {"input": {"subjectId": id, "reason": "SPAM"}}) for _, id in talks]

    codes = [[error["code"] for error in answer["data"]["flag"]["userErrors"]] for answer in answers]
    assert codes == [[], ["RATE_LIMITED"]]
    assert article_number(talks[1][0]) not in await world.numbers()


@on_both
async def test_what_moderators_have_decided_about_leaves_with_its_flags(pair: Pair) -> None:  # D5
    for world in pair.worlds:
        await roles.grant(world.store.site, roles.OPERATOR, "alice", Role.ADMIN, group=None, reason="looks after it")
    article, approved = await talked(pair, "alice")
    removed = (await write(pair, "comment", "Bob", articleId=article, content="noise"))["comment"]["id"]
    for id in (article, approved, removed):
        await write(pair, "flag", "erin", subjectId=id, reason="SPAM")
    await let_leave(pair)
    assert article_number(article) in await pair.archiving.numbers()  # moderators have to decide

    for id in (article, approved):
        await write(pair, "approveContent", "alice", subjectId=id)
    await write(pair, "removeContent", "alice", subjectId=removed, reason="noise")
    await let_leave(pair, article)

    assert article_number(article) not in await pair.archiving.numbers()
    await pair.ask(NODES, "alice", ids=[approved, removed])
    assert await findings(pair.archiving) == []
    await write(pair, "approveContent", "alice", subjectId=removed)  # which clears the flag that came along
    for id in (approved, removed):
        await write(pair, "flag", "erin", subjectId=id, reason="SPAM")
    await pair.ask(NODES, "alice", ids=[approved, removed])
    assert await findings(pair.archiving) == []


@on_both
async def test_verify_brings_nothing_back(pair: Pair) -> None:  # D5
    articles = [(await talked(pair, poster))[0] for poster in ("alice", "Bob")]
    await let_leave(pair, *articles)

    for repair in (False, True):
        assert await findings(pair.archiving, repair=repair) == []
        assert not {article_number(id) for id in articles} & await pair.archiving.numbers()

    site = pair.archiving.store.site
    assert not any([await conversations.that_came_back(site, partition) for partition in range(site.partitions)])


@on_both
async def test_the_room_of_a_conversation_is_given_back(pair: Pair) -> None:  # D5
    """Also where it does not leave: its article is deleted, or its process ends while the comments come back."""
    (deleted, _), (dropped, _) = [await talked(pair, "alice") for _ in range(2)]
    world, site = pair.archiving, pair.archiving.store.site
    partition = site.partition_of_article(article_number(deleted) or 0)
    await let_leave(pair, deleted, dropped)
    assert not (await comment(world, "frank", deleted))["errors"]
    number = article_number(dropped) or 0
    lease = conversations.lease(site, partition)
    async with lease.held():
        hashes = {1541: {"article": str(number), "depth": "0", "time": "1", "up": "1", "down": "0", "path": " 1"}}
        assert await conversations.restore(site, lease, number, hashes, position=NEWEST, room=None)
        assert len(await conversations.that_came_back(site, partition)) == 2
        await conversations.drop(site, lease, number)
    assert await conversations.that_came_back(site, partition) == [article_number(deleted)]

    assert not (await world.ask(MUTATIONS["deleteArticle"], "alice", {"input": {"articleId": deleted}}))["errors"]

    assert await conversations.that_came_back(site, partition) == []
