"""
Articles and comments that the viewer saves: `save`, `unsave`, `viewerHasSaved` and `home.saved`.

The fixture `token` is a session token of the user vera. Codes such as H5 name rows of docs/behaviours.md.
"""

import asyncio
import random

import pytest

from store import article_moderation, bans, saved
from store.keys import member
from store.records import ContentState
from store.roles import OPERATOR
from store.saved import SAVED
from tests.store.held import set_article_state, set_comment_state
from tests.store.reading import everything, post, verified

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store

SAVE = """mutation($id: ID!) { save(input: {subjectId: $id}) {
  changed subject { __typename id viewerHasSaved } userErrors { code field message }
  query { viewer { username } } } }"""
UNSAVE = """mutation($id: ID!) { unsave(input: {subjectId: $id}) {
  changed subject { id viewerHasSaved } userErrors { code field } } }"""
LISTED = """query($first: Int, $after: String, $last: Int, $before: String) { home { id
  saved(first: $first, after: $after, last: $last, before: $before) {
    totalCount nodes { id } edges { cursor node { __typename id } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }"""
HAS_SAVED = "query($ids: [ID!]!) { nodes(ids: $ids) { ... on Votable { viewerHasSaved } } }"


async def comment_on(store, article, poster, content="a text"):
    return (await store.comments.post(article.number, parent=None, poster=poster, content=content)).comment


async def listed(ask, token, **paging):
    return [node["id"] for node in (await ask(LISTED, token, **paging))["data"]["home"]["saved"]["nodes"]]


async def saves(ask, token, *subjects):
    for each in subjects:
        assert (await ask(SAVE, token, id=each.id))["data"]["save"]["userErrors"] == []


async def test_viewer_saves_and_takes_it_back(store, ask, token, alice):  # H5
    article = await post(store, alice)
    comment = await comment_on(store, article, alice)
    done = [(await ask(SAVE, token, id=each.id))["data"]["save"] for each in (article, comment, comment)]
    has_saved = (await ask(HAS_SAVED, token, ids=[article.id, comment.id]))["data"]["nodes"]
    back = [(await ask(UNSAVE, token, id=article.id))["data"]["unsave"] for _ in range(2)]

    assert done[0] == {
        "changed": True,
        "subject": {"__typename": "Article", "id": article.id, "viewerHasSaved": True},
        "userErrors": [],
        "query": {"viewer": {"username": "vera"}},
    }
    assert [each["changed"] for each in done] == [True, True, False]
    assert done[1]["subject"] == done[2]["subject"] == {
        "__typename": "Comment", "id": comment.id, "viewerHasSaved": True,
    }  # fmt: skip
    assert has_saved == [{"viewerHasSaved": True}] * 2
    assert back[0] == {
        "changed": True, "subject": {"id": article.id, "viewerHasSaved": False}, "userErrors": [],
    }  # fmt: skip
    assert back[1] == back[0] | {"changed": False}
    assert await listed(ask, token) == [comment.id]


async def test_latest_saved_comes_first(store, ask, token, alice, bob, clock):  # H5
    subjects = [await post(store, alice), await post(store, bob)]
    subjects.append(await comment_on(store, subjects[0], bob))
    for each in subjects:
        clock.advance(1)
        await saves(ask, token, each)
    clock.advance(1)
    await ask(UNSAVE, token, id=subjects[0].id)
    await saves(ask, token, subjects[1], subjects[0])

    expected = [subjects[0].id, subjects[2].id, subjects[1].id]
    assert await listed(ask, token) == expected
    page = (await ask(LISTED, token, first=2))["data"]["home"]["saved"]
    assert [node["id"] for node in page["nodes"]] == expected[:2]
    assert page["totalCount"] == 3 and page["pageInfo"]["hasNextPage"]
    assert await listed(ask, token, first=2, after=page["pageInfo"]["endCursor"]) == expected[2:]
    assert await listed(ask, token, last=1, before=page["pageInfo"]["endCursor"]) == expected[:1]


async def test_home_is_the_viewers_only(store, ask, token, alice):  # H5
    stranger = (await store.sessions.open(alice)).token
    await saves(ask, token, await post(store, alice))
    document = "query($id: ID!) { node(id: $id) { __typename id ... on Home { saved { totalCount } } } }"

    assert (await ask(LISTED))["data"] == {"home": None}
    assert (await ask(document, id="home:vera"))["data"] == {"node": None}
    assert (await ask(document, stranger, id="home:vera"))["data"] == {"node": None}
    assert (await ask(document, token, id="home:Vera"))["data"] == {
        "node": {"__typename": "Home", "id": "home:vera", "saved": {"totalCount": 1}}
    }
    assert await listed(ask, stranger) == []


async def test_nobody_learns_what_others_have_saved(store, ask, token, alice, published_entries):  # H5
    article = await post(store, alice)
    stranger = (await store.sessions.open(alice)).token
    before = await published_entries()
    await saves(ask, token, article)
    await ask(UNSAVE, token, id=article.id)
    await saves(ask, token, article)

    assert await published_entries() == before
    for each in (stranger, None):
        assert (await ask(HAS_SAVED, each, ids=[article.id]))["data"]["nodes"] == [{"viewerHasSaved": False}]


@pytest.fixture
def published_entries(store):
    """A function that returns the number of entries in the log of each partition."""

    async def entries():
        return await store.site.redis.pipeline(
            [("XLEN", f"log:{{{partition}}}") for partition in range(store.site.partitions)]
        )

    return entries


async def test_what_cannot_be_saved_is_refused(store, ask, token, alice, bob, redis):
    article, removed = await post(store, alice), await post(store, alice)
    below = await comment_on(store, removed, bob)
    await article_moderation.remove(store.site, OPERATOR, removed.number, group=None, reason="spam")
    first = await comment_on(store, article, alice)
    await store.comments.post(article.number, parent=first.number, poster=bob, content="an answer")
    await store.comments.delete(first.number, alice)
    before = everything(redis)

    async def refusal(id, token=token, document=SAVE, name="save"):
        (error,) = (await ask(document, token, id=id))["data"][name]["userErrors"]
        return error["code"], error["field"]

    field = ["input", "subjectId"]
    assert await refusal("user:alice") == ("INVALID", field)
    assert await refusal("article:1024") == ("NOT_FOUND", field)
    assert await refusal(f"comment:{article.number}") == ("NOT_FOUND", field)
    assert await refusal(first.id) == ("NOT_FOUND", field)
    assert await refusal(removed.id) == ("FORBIDDEN", field)
    assert await refusal(below.id) == ("FORBIDDEN", field)
    assert await refusal(article.id, token=None) == ("UNAUTHENTICATED", None)
    assert await refusal(article.id, token=None, document=UNSAVE, name="unsave") == ("UNAUTHENTICATED", None)
    assert everything(redis) == before


async def test_one_article_too_many_is_refused(store, ask, token, alice, monkeypatch):
    monkeypatch.setattr(saved, "MAX_SAVED", 2)
    subjects = [await post(store, alice) for _ in range(3)]
    await saves(ask, token, *subjects[:2])
    (error,) = (await ask(SAVE, token, id=subjects[2].id))["data"]["save"]["userErrors"]
    again = (await ask(SAVE, token, id=subjects[0].id))["data"]["save"]

    assert (error["code"], error["message"]) == ("INVALID", "a user saves at most 2 articles and comments")
    assert (again["changed"], again["userErrors"]) == (False, [])
    await ask(UNSAVE, token, id=subjects[0].id)
    await saves(ask, token, subjects[2])


async def test_banned_user_saves_nothing(store, ask, token, alice):  # M7
    article = await post(store, alice)
    await bans.ban(store.site, OPERATOR, "vera", group=None, until=None, reason="noise")
    opened = (await store.sessions.open("vera")).token

    for document, name in ((SAVE, "save"), (UNSAVE, "unsave")):
        (error,) = (await ask(document, opened, id=article.id))["data"][name]["userErrors"]
        assert error["code"] == "BANNED"


async def test_edited_article_stays_and_deleted_texts_leave(store, ask, token, alice, bob, redis):  # H5
    kept, gone = await post(store, alice), await post(store, alice)
    under, stub = await comment_on(store, gone, bob), await comment_on(store, kept, bob)
    await store.comments.post(kept.number, parent=stub.number, poster=alice, content="an answer")
    await saves(ask, token, kept, gone, under, stub)
    await store.articles.edit(kept.number, alice, {"title": "another title"})
    await store.articles.delete(gone.number, alice)
    await store.comments.delete(stub.number, bob)
    shown = (await ask(LISTED, token))["data"]["home"]["saved"]

    assert [node["id"] for node in shown["nodes"]] == [kept.id]
    key = SAVED(store.site.partition_of_user("vera"), "vera")
    assert redis.zrange(key, 0, -1) == [member(kept.number)]
    assert (await ask(LISTED, token))["data"]["home"]["saved"]["totalCount"] == 1
    assert (await ask(UNSAVE, token, id=gone.id))["data"]["unsave"] == {
        "changed": False, "subject": None, "userErrors": [],
    }  # fmt: skip


async def test_hidden_article_or_comment_is_not_shown_until_it_comes_back(store, ask, token, alice, bob):  # H5, M2
    article = await post(store, alice)
    comments = [await comment_on(store, article, bob, f"text {n}") for n in range(2)]
    await saves(ask, token, article, *comments)
    await set_comment_state(store, comments[0].number, ContentState.PENDING)
    partly = await listed(ask, token)
    removal = await article_moderation.remove(store.site, OPERATOR, article.number, group=None, reason="spam")
    nothing = await listed(ask, token)
    own = await listed(ask, (await store.sessions.open(alice)).token)
    await article_moderation.revert(store.site, OPERATOR, removal.action, "an error")
    await set_comment_state(store, comments[0].number, ContentState.VISIBLE)

    assert partly == [comments[1].id, article.id]
    assert nothing == own == []
    assert set(await listed(ask, token)) == {article.id, *(each.id for each in comments)}


async def test_store_that_takes_no_writes_lists_what_is_left(store, ask, token, alice, redis):
    kept, gone = await post(store, alice), await post(store, alice)
    await saves(ask, token, kept, gone)
    await store.articles.delete(gone.number, alice)
    partition = store.site.partition_of_user("vera")
    redis.set(f"closed:{{{partition}}}", 1)  # the partition takes no writes

    assert await listed(ask, token) == [kept.id]
    assert redis.zcard(SAVED(partition, "vera")) == 2


async def test_page_costs_one_command_more_for_what_is_saved(store, ask, token, alice):  # L7
    for _ in range(3):
        await saves(ask, token, await post(store, alice))
    page = "{ articles(order: TIME) { nodes { id title poster { username } viewerVote %s } } }"

    async def stats(field, token=None):
        await ask(page % field, token)  # so that what can be cached is cached
        return (await ask(page % field, token))["extensions"]["stats"]

    plain, saved_too = await stats("", token), await stats("viewerHasSaved", token)
    assert saved_too["roundTrips"] <= plain["roundTrips"] + 1
    assert saved_too["commands"] <= plain["commands"] + 1
    assert await stats("viewerHasSaved") == await stats("")


async def test_damaged_list_is_repaired(store, ask, token, alice, redis):
    article = await post(store, alice)
    await saves(ask, token, article)
    key = SAVED(store.site.partition_of_user("vera"), "vera")
    redis.zadd(key, {"odd": 2})

    assert [(each.where, each.found) for each in await verified(store, repair=True)] == [(f"{key} odd", "2")]
    assert await verified(store) == []
    assert await listed(ask, token) == [article.id]


@pytest.mark.parametrize("seed", range(3))
async def test_list_is_that_of_a_plain_model(store, ask, token, alice, bob, clock, seed):  # H5
    """Two sessions save articles and comments at once, which are hidden, shown and deleted meanwhile."""
    chance, saved_at = random.Random(seed), {}
    tokens = [token, (await store.sessions.open("vera")).token]
    articles = [await post(store, alice) for _ in range(4)]
    comments = [await comment_on(store, article, bob, f"text {n}") for n in range(2) for article in articles]
    subjects, hidden, gone = [*articles, *comments], set(), set()
    for _ in range(60):
        clock.advance(1)
        subject = chance.choice(subjects)
        match chance.choice(["save", "save", "unsave", "hide", "show", "delete"]):
            case "save":
                done = await asyncio.gather(*(ask(SAVE, each, id=subject.id) for each in tokens))
                is_new = [each["data"]["save"]["changed"] for each in done]
                if not is_out(subject, hidden | gone):
                    assert sorted(is_new) == [False, subject.id not in saved_at]
                    saved_at.setdefault(subject.id, clock.now)
                else:
                    assert is_new == [False, False]
            case "unsave":
                done = await asyncio.gather(*(ask(UNSAVE, each, id=subject.id) for each in tokens))
                changed = [each["data"]["unsave"]["changed"] for each in done]
                assert sum(changed) == (subject.id in saved_at) or is_out(subject, gone)
                saved_at.pop(subject.id, None)
            case "hide" if subject.id not in gone:
                await set_state_of(store, subject, ContentState.PENDING)
                hidden.add(subject.id)
            case "show" if subject.id in hidden - gone:
                await set_state_of(store, subject, ContentState.VISIBLE)
                hidden.discard(subject.id)
            case "delete" if chance.random() < 0.2 and subject.id not in gone:
                commands = store.articles if subject in articles else store.comments
                await commands.delete(subject.number, alice if subject in articles else bob)
                gone.add(subject.id)
        shown = [each for each in subjects if each.id in saved_at and not is_out(each, hidden | gone)]
        shown.sort(key=lambda each: saved_at[each.id], reverse=True)
        assert await listed(ask, chance.choice(tokens)) == [each.id for each in shown]


def is_out(subject, out):
    """Whether the ids in `out` have it, or the article that it is a comment on."""
    return bool({subject.id, f"article:{getattr(subject, 'article', 0)}"} & out)


async def set_state_of(store, subject, state):
    if subject.id.startswith("comment"):
        await set_comment_state(store, subject.number, state)
    else:
        await set_article_state(store, subject.number, state)
