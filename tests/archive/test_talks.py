"""
Conversations, which are articles with their comments, leave Redis for the database and come back, and no answer shows
it (D5).

A `pair` is two stores with the same history: in `pair.archiving` conversations leave, in `pair.complete` none does. A
`Talk` lets people comment at random in both; `talk.gone` has the articles whose conversations have left. `findings` is
what `verify` reports.

`mirrored` brings the database up to date with the log of the store, `rebuilt` makes its rows again. `on_both` runs a
test with SQLite and with PostgreSQL. `first` marks all parameters of a test but the first ones as slow: `make test`
leaves them out.

Codes such as D5 after the names of tests are rows of `docs/behaviours.md`, which these tests prove.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from typing import Any

import pytest

from archive import departures, leaving, steps
from archive.maintenance import records_of, records_since
from database import conversations as rows_of_conversations
from server.cli.move import move
from server.settings import Settings
from store import conversations
from store import leaving as store_leaving
from store.keys import pseudonym
from store.maintenance import dump
from store.maintenance.restore import Restoration
from store.records import article_number
from store.store import Store
from tests.archive.queries import ERRORS
from tests.archive.talks import MUTATIONS, NODES, OF_USER, REVERT, Question, Talk, findings
from tests.archive.worlds import PEOPLE, POLICY, WINDOW, Pair, World
from tests.database.conftest import mirrored, on_both, rebuilt
from tests.examples import first
from tests.programs import skip_or_fail
from tests.store.held import holding

pytestmark = [pytest.mark.one_server]
REACHED = Counter[str]()  # in all histories
QUIET = 3 * 86_400  # seconds: longer than anything has to be unchanged before conversations leave


@on_both
@pytest.mark.parametrize("seed", first(range(8)))
async def test_answers_are_those_of_a_store_that_keeps_all(pair: Pair, seed: int) -> None:  # D5
    pair.listed_comments = 3  # the others come from the database
    talk = Talk(pair, random.Random(seed))
    await talk.begin()
    for _ in range(3):
        await talk.leave(talk.chance.choice((0, 0, 2)))
        await talk.compare()
        for _ in range(6):
            await talk.change()
        await talk.compare()
    pair.crashes, pair.archiver = False, None
    pair.clock.advance(QUIET)
    await talk.leave()
    await talk.compare()
    assert pair.archiving.database
    await mirrored(pair.archiving.store, pair.archiving.database)
    assert not await findings(pair.archiving)
    REACHED.update(talk.reached)


@on_both
@pytest.mark.parametrize("seed", first(range(3)))
async def test_answers_stay_while_conversations_move_and_processes_end(pair: Pair, seed: int) -> None:  # D5
    """Conversations leave and come back again and again, by processes that end at any moment, beside readers."""
    talk = await grown(pair, seed)
    expected = [(question, await talk.answer(pair.complete, question)) for question in talk.questions()]
    moving = asyncio.create_task(talk.move_often(times=16))
    compared = 0
    while not moving.done():
        question, right = talk.chance.choice(expected)
        assert await talk.answer(pair.archiving, question) == right, question
        compared += 1
    await moving
    assert compared > 20
    REACHED.update(talk.reached)
    await talk.settle()
    assert not await findings(pair.archiving)
    for question, right in expected:
        assert await talk.answer(pair.archiving, question) == right, question


@on_both
@pytest.mark.parametrize("seed", first(range(3)))
async def test_comments_that_are_posted_while_conversations_leave_are_there_once(pair: Pair, seed: int) -> None:  # D5
    talk = await grown(pair, seed)
    moving = asyncio.create_task(talk.move_often(times=12))
    posted: list[str] = []
    while not moving.done():
        posted += await asyncio.gather(*(talk.post_alone() for _ in range(2)))
        if talk.chance.random() < 0.1:
            pair.clock.advance(QUIET)
    await moving
    await talk.settle()
    shown = [id for article in pair.ids for id in await talk.shown(article)]
    assert sorted(shown) == sorted({*talk.ids, *posted})
    REACHED.update(talk.reached, posted=len(posted))
    assert not await findings(pair.archiving)
    pair.clock.advance(QUIET)
    await talk.settle()
    assert sorted([id for article in pair.ids for id in await talk.shown(article)]) == sorted(shown)
    assert not await findings(pair.archiving)


def test_what_the_histories_have_to_reach_was_reached() -> None:
    """How much one of them reaches depends on chance and on the machine, all together do."""
    if not REACHED:
        skip_or_fail("the histories did not run in this process")
    missed = [
        name
        for name in ("left", "came back", "ended", "pages of what has left", "posted", "lists without older comments")
        if REACHED[name] < 3
    ]
    assert not missed, REACHED


async def grown(pair: Pair, seed: int) -> Talk:
    """A talk whose conversations may leave, with both databases up to date."""
    talk = Talk(pair, random.Random(seed))
    await talk.begin()
    pair.crashes = False
    pair.clock.advance(QUIET)
    return talk


async def remove_some(talk: Talk) -> None:
    """Remove two articles with their conversations, which may then leave."""
    for id in talk.pair.ids[:2]:
        await talk.write("removeContent", "alice", subjectId=id, reason="off topic")
    talk.pair.clock.advance(QUIET)


async def require_answers(
    talk: Talk, url: str, partitions: int, questions: Sequence[Question], expected: Sequence[dict[str, Any]]
) -> None:
    """Require that a copy of the store, without an archive, answers as the store did."""
    store = await Store.open(url, POLICY, partitions, clock=talk.pair.clock, session_lifetime=10**8)
    copy = World(store, database=None)
    for name in PEOPLE:
        copy.tokens[name] = (await store.sessions.open(name)).token
    for question, right in zip(questions, expected, strict=True):
        assert await talk.answer(copy, question) == right, question
    await copy.close()


@on_both
async def test_backup_rebuild_and_restore_have_conversations(pair: Pair, redis_url: str) -> None:  # D5
    talk = await grown(pair, 1)
    await remove_some(talk)
    await talk.settle()
    await talk.look()
    assert talk.gone
    questions = talk.questions()
    expected = [await talk.answer(pair.complete, question) for question in questions]
    world, site = pair.archiving, pair.archiving.store.site
    assert world.database
    await rebuilt(world.store, world.database)
    for question, right in zip(questions, expected, strict=True):
        assert await talk.answer(world, question) == right, question
    assert not await findings(world)

    archived, departed = records_of(site, world.database), records_since(site, world.database, since=0)
    restoration = await Restoration.begin(
        f"{redis_url}?db=2", "a backup", partitions=4, policy=site.policy, clock=pair.clock
    )
    async for records in dump.records_of(
        site, progress=lambda count: None, on_skipped=lambda key: None, archived=archived, departed=departed
    ):
        await restoration.put(records)
    await restoration.end()
    await restoration.close()
    await require_answers(talk, f"{redis_url}?db=2", partitions=4, questions=questions, expected=expected)


@on_both
async def test_a_move_takes_conversations_along(pair: Pair, redis_url: str, database_url: str) -> None:  # D5
    talk = await grown(pair, 2)
    await remove_some(talk)
    await talk.settle()
    await talk.look()
    assert talk.gone
    questions = talk.questions()
    expected = [await talk.answer(pair.complete, question) for question in questions]
    source = Settings(
        redis_url=f"{redis_url}?db=0", database_url=database_url, good_votes=POLICY.good_votes, voting_window=WINDOW
    )

    assert await asyncio.to_thread(move, source, f"{redis_url}?db=2", partitions=2) == 0

    await require_answers(talk, f"{redis_url}?db=2", partitions=2, questions=questions, expected=expected)


@on_both
async def test_bans_annulments_and_their_reverts_reach_what_has_left(pair: Pair) -> None:  # D5
    talk = await grown(pair, 2)
    await remove_some(talk)
    await talk.settle()
    await talk.look()
    assert talk.gone
    actions = []
    for name, more in (("annulVotes", {}), ("banUser", {"removeTexts": True})):
        given = {"userId": "user:bob", "reason": "spam", **more}
        mutation = f"""mutation($input: {name[0].upper()}{name[1:]}Input!) {{ {name}(input: $input) {{
          {ERRORS} changed action {{ id }} }} }}"""
        answer = await pair.ask(mutation, "alice", input=given)
        assert answer["data"][name]["changed"], answer
        actions.append(answer["data"][name]["action"]["id"])
        gone = set(talk.gone)
        await talk.carry_out()
        await talk.look()
        assert name == "banUser" or talk.gone == gone  # annulments bring nothing back
        await talk.compare()
    await talk.settle()
    for id in reversed(actions):
        answer = await pair.ask(REVERT, "alice", input={"actionId": id, "reason": "no spam"})
        assert answer["data"]["revertModeration"]["changed"], answer
        await talk.carry_out()
        await talk.compare()
    await talk.settle()
    assert not await findings(pair.archiving)


@on_both
async def test_users_who_leave_take_their_comments_along(pair: Pair) -> None:  # D5
    talk = await grown(pair, 3)
    await remove_some(talk)
    await talk.settle()
    world = pair.archiving
    own = [id for id in talk.ids if await talk.poster_of(id) == "carol"]
    leaver = await store_leaving.begin(
        world.store.site, "carol", password_hash="", removes_texts=True, pseudonym=pseudonym("carol")
    )
    await leaving.settle(world.store, world.database, leaver)
    await talk.settle()
    nodes = (await world.ask(NODES, "alice", {"ids": own}))["data"]["nodes"]
    assert len(own) > 3
    assert all(node is None or (node["state"], node["poster"]) == ("DELETED", None) for node in nodes)
    assert not await findings(world)


@on_both
async def test_what_has_left_forgets_that_it_notified_a_user_who_left(pair: Pair) -> None:  # D5
    """A text notifies a limited number of users. One that comes back would otherwise count a user who is gone."""
    talk = await grown(pair, 3)
    await talk.settle()
    await talk.look()
    world = pair.archiving
    assert world.database

    async def notified() -> str:
        kept = [await world.database.run(rows_of_conversations.kept, number) for number in sorted(talk.gone)]
        texts = [each.notified or "" for some in kept for each in some.values()]
        fields = await world.database.run(rows_of_conversations.fields_kept, [*talk.gone])
        return " ".join([*texts, *(each.get("notified", "") for each in fields.values())])

    before = sorted((await notified()).split())
    leaver = await store_leaving.begin(
        world.store.site, "Bob", password_hash="", removes_texts=False, pseudonym=pseudonym("Bob")
    )
    await leaving.settle(world.store, world.database, leaver)

    assert any(":bob:" in word for word in before) and any(":bob:" not in word for word in before)
    assert sorted((await notified()).split()) == [word for word in before if ":bob:" not in word]


async def hold_an_edit(talk: Talk, id: str) -> dict[str, Any]:
    """The poster changes a comment, and the site holds the new text."""
    with ExitStack() as held:
        for world in talk.pair.worlds:
            held.enter_context(holding(world.store))
        return await talk.write("editComment", await talk.poster_of(id), commentId=id, content="another text")


WRITES: dict[str, Callable[[Talk, str], Awaitable[dict[str, Any]]]] = {
    "comment": lambda talk, id: talk.write("comment", articleId=talk.article_of[id], parentId=id, content="wait"),
    "editComment": lambda talk, id: talk.write("editComment", "alice", commentId=id, content="another text"),
    "deleteComment": lambda talk, id: talk.write("deleteComment", "alice", commentId=id),
    "removeContent": lambda talk, id: talk.write("removeContent", "alice", subjectId=id, reason="off topic"),
    "lockArticle": lambda talk, id: talk.write("lockArticle", "alice", articleId=talk.article_of[id], reason="enough"),
    "hold an edit": hold_an_edit,
    "flag": lambda talk, id: talk.write("flag", "carol", subjectId=id, reason="SPAM"),
}


@on_both
@pytest.mark.parametrize("moment", first(["before it is removed", "before its comments are read"]))
@pytest.mark.parametrize("what", first(WRITES, 4))
async def test_what_is_written_while_a_conversation_leaves_keeps_it(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, what: str, moment: str
) -> None:  # D5
    talk = await grown(pair, 4)
    poster = "alice" if what in ("editComment", "deleteComment") else "Bob"
    id = [each for each in talk.ids if await talk.poster_of(each) == poster][-1]
    number, written = article_number(talk.article_of[id]), []
    module, name = (departures, "of") if moment == "before its comments are read" else (steps, "remove")
    go_on = getattr(module, name)

    async def write_before(*arguments: Any) -> Any:
        # the third argument is an article that may leave, or those that are removed together
        found = arguments[2] if module is departures else arguments[2][0]
        if found.article.number == number and not written:
            written.append(await WRITES[what](talk, id))
        return await go_on(*arguments)

    monkeypatch.setattr(module, name, write_before)
    await pair.run_mover(articles=0, articles_per_user=1_000)

    assert [payload["userErrors"] for payload in written] == [[]]
    assert number in await pair.archiving.numbers()
    assert pair.reached["moved"] > 0
    for question in talk.questions():
        assert await talk.answer(pair.archiving, question) == await talk.answer(pair.complete, question), question
    assert pair.archiving.database
    await mirrored(pair.archiving.store, pair.archiving.database)
    assert not await findings(pair.archiving)


async def test_a_comment_that_waits_for_other_conversations_is_unavailable(pair: Pair) -> None:  # D5
    """
    Another process moves conversations of the partition, and may have been killed: the answer comes before the time
    limit of a request.
    """
    talk = await grown(pair, 1)
    await talk.settle()
    await talk.look()
    site, number = pair.archiving.store.site, min(talk.gone)
    given = {"input": {"articleId": f"article:{number}", "content": "late"}}
    async with conversations.lease(site, site.partition_of_article(number)).held():
        answer = await pair.archiving.ask(MUTATIONS["comment"], "alice", given)
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["UNAVAILABLE"], answer


@on_both
async def test_two_processes_that_want_a_conversation_bring_it_back_once(
    pair: Pair, redis_url: str, partitions: int
) -> None:  # D5
    """Two people comment in each at once, while conversations leave: each comment is there once, and announced once."""
    talk = await grown(pair, 5)
    await talk.settle()
    await talk.look()
    store = await Store.open(f"{redis_url}?db=0", POLICY, partitions, clock=pair.clock, session_lifetime=10**8)
    worlds = pair.archiving, World(store, pair.archiving.database, pair.archiving.tokens)
    posted: dict[str, tuple[str, str]] = {}  # poster and article, by the id of the comment

    async def comment(world: World, who: str, article: str) -> None:
        given = {"input": {"articleId": article, "content": f"{who} says so by process {worlds.index(world)}"}}
        answer = await world.ask(MUTATIONS["comment"], who, given)
        assert answer["data"] and answer["data"]["comment"]["comment"], answer
        posted[answer["data"]["comment"]["comment"]["id"]] = who, article

    for number in sorted(talk.gone):
        both = [comment(world, who, f"article:{number}") for world in worlds for who in ("Bob", "carol")]
        await asyncio.gather(*both, pair.run_mover(articles=0, articles_per_user=1_000))
    await worlds[1].close()
    await talk.settle()

    assert len(posted) == 4 * len(talk.gone) > 8
    assert sorted([id for article in pair.ids for id in await talk.shown(article)]) == sorted([*talk.ids, *posted])
    told = Counter[tuple[str, str]]()  # whom of which comment
    for name in PEOPLE:
        inbox = (await pair.archiving.ask(OF_USER, name, {"name": name}))["data"]["inbox"]["notifications"]["nodes"]
        told.update((name, each["subject"]["id"]) for each in inbox if each["subject"]["id"] in posted)
    posters = {article: await talk.poster_of_article(article) for article in pair.ids}
    assert told == {(posters[article], id): 1 for id, (who, article) in posted.items() if posters[article] != who}
    assert not await findings(pair.archiving)
