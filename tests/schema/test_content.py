"""
What moderators do with articles over the API, and that nobody sees what only another may read.

The fixture `token` is a session token of the user vera. `listen` subscribes with a document of
tests/schema/subscribers.py, such as CHANGED, and `value()` of what it returns waits for the next value.

Codes such as M2 name rows of docs/behaviours.md.
"""

import asyncio
import json
from contextlib import AsyncExitStack
from operator import itemgetter

import httpx
import pytest

from resolvers import content
from resolvers.context import Context
from resolvers.rate_limits import WriteRates
from store import article_moderation, comment_moderation, roles
from store.errors import RateLimited
from store.moderation_records import Role
from store.records import ContentState, Vote
from store.roles import OPERATOR
from tests.schema.subscribers import (
    CHANGED,
    COMMENT_CHANGED,
    COMMENTED,
    RANKING,
    SEVERAL,
    over_events,
    over_socket,
    subscribed,
)
from tests.servers import PATIENCE
from tests.store.discussions import commented
from tests.store.held import set_article_state
from tests.store.reading import everything, post

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store

BY_COMMENT = (COMMENTED, COMMENT_CHANGED)
SHOWN = itemgetter("state", "content", "poster")  # of what `commentChanged` sends
LINK = "https://example.com/"
REMOVE = """mutation($id: ID!, $group: String, $note: String) {
  removeContent(input: {subjectId: $id, group: $group, reason: "spam", note: $note}) {
    changed action { id kind reason subjectId subject { id } group { name } } userErrors { code field } } }"""
APPROVE = """mutation($id: ID!) { approveContent(input: {subjectId: $id}) {
  changed action { kind reason } userErrors { code field } } }"""
LOCK = """mutation($id: ID!) { lockArticle(input: {articleId: $id, reason: "heated"}) {
  changed action { kind } userErrors { code field } } }"""
HELD = "{ held { totalCount nodes { id votes ... on Article { title state } } pageInfo { hasNextPage } } }"
READ = """query($id: ID!, $link: URL!) {
  article(id: $id) { title }
  node(id: $id) { id }
  nodes(ids: [$id]) { id }
  articles { totalCount nodes { id } }
  since: articles(order: VOTES, since: "2010-01-01T00:00:00Z") { totalCount nodes { id } }
  frontPage { totalCount nodes { id } }
  articlesByLink(link: $link) { totalCount nodes { id } }
  group(name: "show") { articles { totalCount nodes { id } } }
  groups { totalCount nodes { name } }
  user(username: "alice") { karma articles { totalCount nodes { id } } }
}"""
STATE = "query($id: ID!) { article(id: $id) { id title state isLocked isVotingOpen standing { rank } } }"
FEED = "{ feed { unseenCount articles { totalCount nodes { id } } } }"
PINNED = """query($after: String) { articles(first: 1, pinned: true, after: $after) {
  nodes { id } pageInfo { endCursor } } }"""
POST = """mutation($link: URL!) { post(input: {title: "Again", link: $link}) { duplicateOf { id } } }"""
NOTHING = {
    "article": None,
    "node": None,
    "nodes": [None],
    "articles": {"totalCount": 0, "nodes": []},
    "since": {"totalCount": 0, "nodes": []},
    "frontPage": {"totalCount": 0, "nodes": []},
    "articlesByLink": {"totalCount": 0, "nodes": []},
    "group": {"articles": {"totalCount": 0, "nodes": []}},
    "groups": {"totalCount": 0, "nodes": []},
    "user": {"karma": 0, "articles": {"totalCount": 0, "nodes": []}},
}


async def login(store, username, role=None, group=None):
    token = (await store.users.register(username, "correct horse")).token
    if role:
        await roles.grant(store.site, OPERATOR, username, role, group=group, reason="a reason")
    return token


@pytest.fixture
async def moderator(store):
    """The token of a moderator of the group `show`."""
    return await login(store, "molly", Role.MODERATOR, "show")


@pytest.fixture
async def admin(store):
    return await login(store, "adam", Role.ADMIN)


@pytest.fixture
async def article(store, alice):
    """An article by alice in the group `show`, with enough votes for the front page."""
    found = await post(store, alice, "A secret", groups=["show"])
    for voter in range(store.site.policy.good_votes):
        await store.articles.vote(found.number, f"voter-{voter}", Vote.UP)
    return found


def remove(store, number):
    return article_moderation.remove(store.site, OPERATOR, number, group=None, reason="a reason")


def approve(store, number):
    return article_moderation.approve(store.site, OPERATOR, number)


async def test_removed_article_is_shown_nowhere_and_comes_back(store, ask, article, moderator):  # M2, M3
    variables = {"id": article.id, "link": LINK}
    before = (await ask(READ, **variables))["data"]

    removed = (await ask(REMOVE, moderator, id=article.id))["data"]["removeContent"]
    gone = (await ask(READ, **variables))["data"]
    again = (await ask(REMOVE, moderator, id=article.id))["data"]["removeContent"]
    approved = (await ask(APPROVE, moderator, id=article.id))["data"]["approveContent"]

    action = removed["action"]
    assert (removed["changed"], again["changed"], again["action"]) == (True, False, action)
    assert action == {
        **{"id": action["id"], "kind": "REMOVE", "reason": "spam", "subjectId": article.id},
        **{"subject": {"id": article.id}, "group": None},
    }
    assert gone == NOTHING
    assert approved == {"changed": True, "action": {"kind": "APPROVE", "reason": ""}, "userErrors": []}
    assert (await ask(READ, **variables))["data"] == before


async def test_only_the_poster_and_its_moderators_read_a_removed_article(
    store, ask, article, moderator, admin, token
):  # M2
    owner = (await store.sessions.open("alice")).token
    elsewhere = await login(store, "other", Role.MODERATOR, "ask")
    await remove(store, article.number)
    shown = {"id": article.id, "title": "A secret", "state": "REMOVED", "isLocked": False}
    shown |= {"isVotingOpen": False, "standing": None}

    for _ in range(3):  # caches are filled by then
        for reader in (moderator, None, owner, token, admin, elsewhere):
            expected = shown if reader in (moderator, owner, admin) else None
            assert (await ask(STATE, reader, id=article.id))["data"]["article"] == expected
            listed = (await ask(READ, reader, id=article.id, link=LINK))["data"]
            assert listed["articles"] == NOTHING["articles"]
    await roles.revoke(store.site, OPERATOR, "molly", Role.MODERATOR, group="show", reason="a reason")
    assert (await ask(STATE, moderator, id=article.id))["data"] == {"article": None}  # M1


async def test_held_lists_hidden_texts_of_the_viewer(store, ask, article, moderator):
    owner = (await store.sessions.open("alice")).token
    assert (await ask(HELD, owner))["data"]["held"]["totalCount"] == 0
    await remove(store, article.number)

    expected = {"id": article.id, "votes": article.votes + store.site.policy.good_votes}
    expected |= {"title": "A secret", "state": "REMOVED"}
    held = {"totalCount": 1, "nodes": [expected], "pageInfo": {"hasNextPage": False}}
    assert (await ask(HELD, owner))["data"] == {"held": held}
    assert (await ask(HELD, moderator))["data"]["held"]["totalCount"] == 0
    assert (await ask(HELD))["data"] == {"held": None}


async def test_feed_pinned_pages_and_duplicates_leave_out_a_removed_article(store, ask, article, token, alice):  # M2
    await store.follows.follow("vera", alice)
    other = await post(store, alice, "Another")
    first = (await ask(PINNED))["data"]["articles"]
    assert first["nodes"][0]["id"] in (article.id, other.id)
    hidden = next(each for each in (article, other) if each.id != first["nodes"][0]["id"])
    shown = next(each for each in (article, other) if each is not hidden)
    await remove(store, hidden.number)

    second = (await ask(PINNED, after=first["pageInfo"]["endCursor"]))["data"]["articles"]
    feed = (await ask(FEED, token))["data"]["feed"]
    duplicate = (await ask(POST, token, link=LINK))["data"]["post"]["duplicateOf"]

    assert second["nodes"] == []
    assert feed == {"unseenCount": 1, "articles": {"totalCount": 1, "nodes": [{"id": shown.id}]}}
    assert duplicate == {"id": shown.id}


async def test_refused_removals_change_nothing(store, ask, article, moderator, token, redis):
    await ask(STATE, token, id=article.id)
    before = everything(redis)
    for reader, id, code, field in (
        (token, article.id, "NOT_A_MODERATOR", None),
        (moderator, "article:1024", "NOT_FOUND", ["input", "subjectId"]),
        (moderator, "article:x", "INVALID", ["input", "subjectId"]),
        (None, article.id, "UNAUTHENTICATED", None),
    ):
        done = (await ask(REMOVE, reader, id=id))["data"]["removeContent"]
        assert done == {"changed": False, "action": None, "userErrors": [{"code": code, "field": field}]}
    assert everything(redis) == before


async def test_locked_article_takes_no_votes(store, ask, article, moderator, token):  # M4
    vote = "mutation($id: ID!) { vote(input: {articleId: $id}) { userErrors { code } } }"
    locked = (await ask(LOCK, moderator, id=article.id))["data"]["lockArticle"]

    assert locked == {"changed": True, "action": {"kind": "LOCK"}, "userErrors": []}
    assert (await ask(vote, token, id=article.id))["data"]["vote"]["userErrors"] == [{"code": "LOCKED"}]
    shown = (await ask(STATE, id=article.id))["data"]["article"]
    assert (shown["isLocked"], shown["isVotingOpen"], shown["standing"]) == (True, False, {"rank": 1})


async def test_queries_that_arrive_at_once_are_answered_for_each_reader(store, ask, article, moderator):  # M2
    await remove(store, article.number)
    readers = [moderator, None] * 5
    answers = await asyncio.gather(*(ask(STATE, reader, stats=False, id=article.id) for reader in readers))

    assert [each["data"]["article"] is not None for each in answers] == [True, False] * 5


@pytest.mark.parametrize("subscribe", [over_socket, over_events], ids=["WebSocket", "SSE"])
async def test_subscriptions_of_strangers_end_and_those_of_moderators_go_on(
    store, url, live, article, moderator, subscribe
):  # M2
    """The moderator comes first, so that nothing that is shared shows the stranger what only moderators may read."""
    watched = (url, live, CHANGED)
    async with (
        subscribe(*watched, moderator, id=article.id) as watching,
        subscribe(*watched, None, id=article.id) as stranger,
    ):
        await remove(store, article.number)
        assert (await watching())["title"] == "A secret"
        assert await stranger() is None
        async with subscribed(url, CHANGED, id=article.id) as late:
            assert await late.refusal() == ("NOT_FOUND", f"there is no {article.id}")
        await approve(store, article.number)
        assert (await watching())["title"] == "A secret"


async def test_articles_changed_leaves_out_a_hidden_one_until_it_returns(
    store, listen, article, moderator, alice
):  # M2
    other = await post(store, alice)
    ids = [article.id, other.id]
    watching, stranger = await listen(SEVERAL, moderator, ids=ids), await listen(SEVERAL, ids=ids)
    await remove(store, article.number)
    assert (await watching.value())["id"] == article.id
    await store.articles.vote(other.number, "carol", Vote.UP)
    assert (await stranger.value())["id"] == other.id
    await approve(store, article.number)
    assert (await stranger.value())["id"] == article.id


async def test_ranking_moves_when_an_article_leaves_it_and_comes_back(store, listen, article):  # M2, M3
    ranking = await listen(RANKING)
    assert [each["id"] for each in (await ranking.value())["articles"]] == [article.id]
    await remove(store, article.number)
    gone = await ranking.value()
    await approve(store, article.number)
    back = await ranking.value()

    assert (gone["articles"], gone["moves"]) == ([], [{"articleId": article.id, "from": 1, "to": None}])
    assert back["moves"] == [{"articleId": article.id, "from": None, "to": 1}]


async def test_comments_of_an_article_that_leaves_end_for_strangers(store, listen, article, moderator):  # M2
    streams = [await listen(query, each, id=article.id) for query in BY_COMMENT for each in (moderator, None)]
    await remove(store, article.number)
    assert [(await stranger.message())["type"] for stranger in streams[1::2]] == ["complete"] * 2
    await approve(store, article.number)
    await store.comments.post(article.number, parent=None, poster="alice", content="a text")
    assert (await streams[0].value())["content"] == "a text"


@pytest.mark.parametrize("subscribe", [over_socket, over_events], ids=["WebSocket", "SSE"])
@pytest.mark.parametrize("query", BY_COMMENT)
async def test_comments_of_a_pending_article_are_sent_to_who_may_read_it(
    store, url, live, article, moderator, admin, token, query, subscribe
):  # M2
    owner = (await store.sessions.open("alice")).token
    elsewhere = await login(store, "other", Role.MODERATOR, "ask")
    await login(store, "another", Role.ADMIN)
    first, second = [await commented(store, article.number, "alice", text=text) for text in ("first", "second")]
    await set_article_state(store, article.number, ContentState.PENDING)
    for each in (None, token, elsewhere):
        async with subscribed(url, query, each, id=article.id) as refused:
            assert await refused.refusal() == ("NOT_FOUND", f"there is no {article.id}")
    async with AsyncExitStack() as stack:
        readers = (moderator, owner, admin)
        told = [await stack.enter_async_context(subscribe(url, live, query, each, id=article.id)) for each in readers]
        if query == COMMENT_CHANGED:
            await store.comments.delete(first.number, "alice")
            assert [(await each())["state"] for each in told] == ["DELETED"] * 3
            await comment_moderation.remove(store.site, OPERATOR, second.number, group=None, reason="a reason")
            assert [SHOWN(await each()) for each in told] == [("REMOVED", None, None)] * 3
            # from then on, adam reads what everybody reads
            await roles.revoke(store.site, OPERATOR, "adam", Role.ADMIN, group=None, reason="a reason")
            await comment_moderation.approve(store.site, OPERATOR, second.number)
            assert [SHOWN(await each()) for each in told[:2]] == [("VISIBLE", "second", {"username": "alice"})] * 2
            await approve(store, article.number)
            await store.comments.vote(second.number, "vera", Vote.UP)
            assert [(await each())["votes"] for each in told] == [2] * 3
        else:
            await approve(store, article.number)
            third = await commented(store, article.number, "vera", second)
            assert [(await each())["id"] for each in told] == [third.id] * 3


async def test_new_comments_below_one_of_a_pending_article_are_sent(store, listen, url, article, moderator, alice):
    first = await commented(store, article.number, alice)
    await set_article_state(store, article.number, ContentState.PENDING)
    below = await listen(COMMENTED, moderator, id=article.id, under=first.id)
    async with subscribed(
        url, COMMENTED, moderator, id=article.id, under=article.id.replace("article", "comment")
    ) as refused:
        assert (await refused.refusal())[0] == "NOT_FOUND"
    await approve(store, article.number)
    await commented(store, article.number, alice)
    reply = await commented(store, article.number, alice, first)

    assert (await below.value())["id"] == reply.id


@pytest.mark.parametrize("accept", ["application/json", "application/graphql-response+json"])
async def test_readers_over_http_get_their_own_answers(store, url, article, moderator, accept):  # M2
    await remove(store, article.number)
    async with httpx.AsyncClient(base_url=url.replace("ws:", "http:"), timeout=PATIENCE) as client:

        async def shown(token):
            headers = {"Accept": accept} | ({"Authorization": f"Bearer {token}"} if token else {})
            parameters = {"query": STATE, "variables": json.dumps({"id": article.id})}
            return (await client.get("", params=parameters, headers=headers)).json()["data"]["article"]

        for _ in range(3):
            assert (await shown(moderator))["title"] == "A secret"
            assert await shown(None) is None
        at_once = await asyncio.gather(*(shown(token) for token in (moderator, None) * 4))
    assert [each is not None for each in at_once] == [True, False] * 4


async def test_removals_are_limited_by_the_hour(store, ask, alice, moderator, clock):
    posted = [await post(store, alice, groups=["show"]) for _ in range(3)]
    context = Context(store, moderator, address="127.0.0.1", rates=WriteRates(removals=2))
    await content.remove(context, posted[0].id, "a reason")
    assert not (await content.remove(context, posted[0].id, "a reason")).changed  # does not count
    await content.remove(context, posted[1].id, "a reason")

    with pytest.raises(RateLimited):
        await content.remove(context, posted[2].id, "a reason")
    clock.advance(3601)
    assert (await content.remove(context, posted[2].id, "a reason")).changed
