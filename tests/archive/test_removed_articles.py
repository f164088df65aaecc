"""
Articles that moderators have removed leave Redis for the database like others, with their comments, and come back when
a moderator decides about them (D5).

A `pair` is two stores with the same history: in `pair.archiving` articles leave, in `pair.complete` none does. `ask`,
`write` and `mutate` send the same to both, and check that the answers are equal.

`on_both` runs a test with SQLite and with PostgreSQL.

D5 is a row of `docs/behaviours.md`, which these tests prove.
"""

import random
from contextlib import ExitStack
from typing import Any

import pytest

from store import keys, roles
from store.moderation_records import Role
from store.records import article_number
from tests.archive.queries import ERRORS
from tests.archive.talks import DAY, OF_USER, REVERT, Talk, findings, in_redis, let_leave, talked, write
from tests.archive.worlds import Pair, World
from tests.database.conftest import on_both
from tests.store.held import holding

pytestmark = [pytest.mark.one_server]
SHOWN = """query($id: ID!) { node(id: $id) { id } article(id: $id) { title state votes commentCount isLocked
    removal { reason } standing { rank } voters { totalCount } flags { reason }
    comments { totalCount } groups { name articles { totalCount } }
    thread(order: VOTES) { totalCount nodes { id content state votes } } }
  articles(first: 10) { totalCount nodes { id } } groups { nodes { name } }
  held { totalCount nodes { id ... on Article { title state } ... on Comment { content } } }
  comments { totalCount nodes { content } }
  user(username: "Bob") { karma articles { totalCount nodes { id } } } }"""
ANNUL = f"mutation($input: AnnulVotesInput!) {{ annulVotes(input: $input) {{ {ERRORS} action {{ id }} }} }}"
KEPT = "{ home { saved { nodes { ... on Article { id } } } hidden { nodes { id } } } }"
PINNED = """query($after: String) { articles(order: TIME, pinned: true, first: 1, after: $after) {
  nodes { id } pageInfo { endCursor } } }"""
WAITING = "{ moderationQueue(kind: PENDING) { edges { heldBy } } }"  # texts that the site has held
READERS = (None, "alice", "Bob", "carol", "erin")  # nobody, a moderator, the poster, who has commented, somebody else


async def look_after(pair: Pair) -> None:
    """Make alice an admin."""
    for world in pair.worlds:
        await roles.grant(world.store.site, roles.OPERATOR, "alice", Role.ADMIN, group=None, reason="looks after it")
    pair.crashes, pair.days = False, 2  # after which conversations leave


async def removed(pair: Pair) -> str:
    """An old article by Bob with two comments, upvoted by erin, which was removed and has left Redis: its id."""
    await look_after(pair)
    article, comment = await talked(pair, "Bob")
    await talked(pair, "Bob", group="ask")
    await pair.mutate("vote", "erin", articleId=article, value="UP")
    await write(pair, "voteOnComment", "erin", commentId=comment, value="UP")
    pair.clock.advance(DAY)
    await write(pair, "removeContent", "alice", subjectId=article, reason="off topic")
    await let_leave(pair, article)
    return article


async def is_in_redis(world: World, id: str) -> bool:
    return bool(await in_redis(world, [article_number(id) or 0]))


async def compare(pair: Pair, article: str) -> dict[str | None, Any]:
    """Compare what all readers are shown, and what `verify` finds, which is nothing. Returns the answers."""
    answers = {}
    for reader in READERS:
        answer = await pair.ask(SHOWN, reader, id=article)
        assert answer["data"], answer
        answers[reader] = answer["data"]
        if reader:
            await pair.ask(OF_USER, reader, name=reader)
    assert not await findings(pair.archiving)
    return answers


@on_both
async def test_a_removed_article_that_has_left_is_shown_to_its_poster_and_moderators(pair: Pair) -> None:  # D5
    article = await removed(pair)
    answers = await compare(pair, article)
    assert not await is_in_redis(pair.archiving, article)
    assert answers["erin"]["article"] is answers[None]["article"] is None
    assert answers["Bob"]["article"]["removal"] == answers["alice"]["article"]["removal"] == {"reason": "off topic"}
    assert [each["id"] for each in answers["Bob"]["held"]["nodes"]] == [article]
    assert answers[None]["articles"]["totalCount"] == 1

    await write(pair, "approveContent", "alice", subjectId=article)
    assert await is_in_redis(pair.archiving, article)
    answers = await compare(pair, article)
    assert answers[None]["article"]["votes"] == 2
    assert answers[None]["article"]["commentCount"] == 2
    await let_leave(pair, article)
    assert (await compare(pair, article))[None]["article"] == answers[None]["article"]


@on_both
async def test_a_removed_article_leaves_within_the_limits_after_quiet_days(pair: Pair) -> None:  # D5
    """No listing shows it, so that it leaves even where Redis has room for more articles."""
    article = await removed(pair)
    await write(pair, "approveContent", "alice", subjectId=article)
    await write(pair, "removeContent", "alice", subjectId=article, reason="again")
    for days, is_there in ((0, True), (3, False)):
        pair.clock.advance(days * DAY)
        pair.days = None if is_there else 2
        await pair.run_mover(articles=1_000, articles_per_user=1_000)
        assert await is_in_redis(pair.archiving, article) == is_there
    await compare(pair, article)


@on_both
async def test_what_is_refused_does_not_bring_a_removed_article_back(pair: Pair) -> None:  # D5
    article = await removed(pair)
    for who in ("carol", "alice"):
        payload = await write(pair, "comment", who, articleId=article, content="late")
        assert [error["code"] for error in payload["userErrors"]] == ["FORBIDDEN"]
    comment = (await compare(pair, article))["alice"]["article"]["thread"]["nodes"][0]["id"]
    for subject in (article, comment):
        payload = await write(pair, "flag", "erin", subjectId=subject, reason="SPAM")
        assert [error["code"] for error in payload["userErrors"]] == ["FORBIDDEN"]
    await pair.mutate("vote", "carol", articleId=article, value="UP")
    assert not await is_in_redis(pair.archiving, article)


@on_both
async def test_lists_of_others_do_not_show_a_removed_article_that_has_left(pair: Pair) -> None:  # D5
    article = await removed(pair)
    await write(pair, "approveContent", "alice", subjectId=article)
    for name, field in ("save", "subjectId"), ("hideArticle", "articleId"):
        mutation = f"mutation($id: ID!) {{ {name}(input: {{{field}: $id}}) {{ changed {ERRORS} }} }}"
        assert (await pair.ask(mutation, "carol", id=article))["data"][name]["changed"]
    assert str(await pair.ask(KEPT, "carol")).count(article) == 2
    after = (await pair.ask(PINNED, "carol"))["data"]["articles"]["pageInfo"]["endCursor"]
    assert article in str(await pair.ask(PINNED, "carol", after=after))

    await write(pair, "removeContent", "alice", subjectId=article, reason="again")
    await let_leave(pair, article)
    for shown in await pair.ask(KEPT, "carol"), await pair.ask(PINNED, "carol", after=after):
        assert shown["data"], shown
        assert article not in str(shown)


@on_both
async def test_a_poster_deletes_a_removed_article_that_has_left(pair: Pair) -> None:  # D5
    article = await removed(pair)
    payload = await pair.mutate("delete", "Bob", articleId=article)
    assert not payload["userErrors"]
    assert (await compare(pair, article))["Bob"]["held"]["totalCount"] == 0


@on_both
async def test_votes_on_a_removed_article_that_has_left_are_annulled(pair: Pair) -> None:  # D5, M8
    article = await removed(pair)
    answer = await pair.ask(ANNUL, "alice", input={"userId": "user:erin", "reason": "a ring"})
    assert answer["data"]["annulVotes"]["action"], answer
    await Talk(pair, random.Random(0)).carry_out()
    assert not await is_in_redis(pair.archiving, article)
    assert (await compare(pair, article))["Bob"]["article"]["votes"] == 1

    await write(pair, "approveContent", "alice", subjectId=article)
    answers = await compare(pair, article)
    assert answers[None]["article"]["votes"] == 1
    assert [each["votes"] for each in answers[None]["article"]["thread"]["nodes"]] == [1, 1]


@on_both
async def test_what_was_held_and_removed_is_announced_when_it_is_approved_after_it_has_left(pair: Pair) -> None:  # D5
    """A text that the site holds notifies those whom it mentions only once it is approved."""
    await look_after(pair)
    with ExitStack() as held:
        for world in pair.worlds:
            held.enter_context(holding(world.store, "casino"))
        posted = await pair.mutate("post", "Bob", title="A title", content="For @carol.", groups=["show"])
    article = posted["article"]["id"]
    removal = await write(pair, "removeContent", "alice", subjectId=article, reason="spam")
    await let_leave(pair, article)
    await compare(pair, article)

    (await pair.ask(REVERT, "alice", input={"actionId": removal["action"]["id"], "reason": "no spam"}))["data"]
    assert await is_in_redis(pair.archiving, article)
    answer = await pair.ask(WAITING, "alice", id=article)
    assert [edge["heldBy"] for edge in answer["data"]["moderationQueue"]["edges"]] == ["check"]
    await write(pair, "approveContent", "alice", subjectId=article)
    answer = await pair.ask(OF_USER, "carol", name="carol")
    assert [each["kind"] for each in answer["data"]["inbox"]["notifications"]["nodes"]] == ["MENTION"]
    await compare(pair, article)


@on_both
async def test_a_removed_article_without_comments_leaves_and_comes_back(pair: Pair) -> None:  # D5
    await look_after(pair)
    article = (await pair.mutate("post", "Bob", title="A title", content="A text.", groups=["show"]))["article"]["id"]
    await write(pair, "removeContent", "alice", subjectId=article, reason="off topic")
    await let_leave(pair, article)
    await compare(pair, article)
    await write(pair, "approveContent", "alice", subjectId=article)
    assert (await compare(pair, article))[None]["article"]["title"] == "A title"


@on_both
async def test_a_wrong_count_of_removed_articles_is_found_and_repaired(pair: Pair) -> None:  # D5
    article = await removed(pair)
    site = pair.archiving.store.site
    archived = keys.archived(site.partition_of_article(article_number(article) or 0))
    await site.redis.run(("HSET", archived, "count:removed", 7))

    (found,) = await findings(pair.archiving, repair=True)
    assert (found.where, found.found, found.expected, found.repaired) == (f"{archived} count:removed", "7", "1", True)
    assert not await findings(pair.archiving)
