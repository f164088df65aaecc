"""
Comments as clients read them: their fields, by id and as nodes. The viewer is vera, if `token` is sent.

Codes such as C1 name rows of docs/behaviours.md.
"""

import asyncio
import random

import pytest

from store import keys
from store.records import Comment, Vote
from tests.conftest import registered
from tests.store import discussions
from tests.store.discussions import commented
from tests.store.reading import post

pytestmark = pytest.mark.many_partitions  # run also with several partitions of the store

ALL = """{ __typename id depth content state postedAt editedAt votes upvotes downvotes viewerVote isVotingOpen
  votingClosesAt replyCount descendantCount poster { username } article { id commentCount } parent { id }
  ancestors { id } }"""
COMMENT = f"query($id: ID!) {{ comment(id: $id) {ALL} }}"
NODES = """query($ids: [ID!]!) { nodes(ids: $ids) { __typename id ... on Votable { votes viewerVote isVotingOpen }
  ... on Comment { content } ... on Article { title } } }"""
WEEK = 7 * 86_400  # seconds


@pytest.fixture
async def article(store, alice, bob) -> int:
    return (await post(store, alice)).number


async def found(ask, comment: Comment | int, token: str | None = None) -> dict | None:
    number = comment if isinstance(comment, int) else comment.number
    answer = await ask(COMMENT, token, id=f"comment:{number}")
    assert "errors" not in answer, answer
    return answer["data"]["comment"]


async def test_comment_has_all_fields(store, ask, token, article, clock):  # C1, C3
    top = await commented(store, article, "bob", text="*first*")
    clock.advance(1)
    reply = await commented(store, article, "vera", parent=top, text="second")
    await store.comments.edit(reply.number, "vera", "edited")
    below = await commented(store, article, "alice", parent=reply, text="third")
    await store.comments.vote(reply.number, "bob", Vote.DOWN)

    assert await found(ask, reply, token) == {
        "__typename": "Comment",
        "id": f"comment:{reply.number}",
        "depth": 1,
        "content": "edited",
        "state": "VISIBLE",
        "postedAt": "2016-08-04T11:52:01.000Z",
        "editedAt": "2016-08-04T11:52:01.000Z",
        "votes": 0,
        "upvotes": 1,
        "downvotes": 1,
        "viewerVote": "UP",
        "isVotingOpen": True,
        "votingClosesAt": "2016-08-11T11:52:01.000Z",
        "replyCount": 1,
        "descendantCount": 1,
        "poster": {"username": "vera"},
        "article": {"id": f"article:{article}", "commentCount": 3},
        "parent": {"id": f"comment:{top.number}"},
        "ancestors": [{"id": f"comment:{top.number}"}],
    }
    first, last = await found(ask, top), await found(ask, below)
    assert (first["parent"], first["ancestors"], first["viewerVote"]) == (None, [], None)
    assert (first["replyCount"], first["descendantCount"], first["content"]) == (1, 2, "*first*")
    assert last["ancestors"] == [{"id": f"comment:{top.number}"}, {"id": f"comment:{reply.number}"}]


COUNTS = """query($ids: [ID!]!, $article: ID!) { article(id: $article) { commentCount }
  nodes(ids: $ids) { ... on Comment { id depth replyCount descendantCount parent { id } ancestors { id } } } }"""


async def test_counts_are_right_after_60_concurrent_writers(store, ask, article):  # C3
    for name in discussions.PEOPLE:
        await registered(store, name)
    made: list[Comment] = []
    await asyncio.gather(
        *(discussions.discuss(store, article, random.Random(seed), turns=4, made=made) for seed in range(60)),
    )
    comments = await discussions.comments(store, article)
    ids = [f"comment:{each.number}" for each in comments]
    parents = {f"comment:{each.number}": each.parent and f"comment:{each.parent}" for each in comments}

    seen = {}
    for start in range(0, len(ids), 90):
        answer = await ask(COUNTS, ids=ids[start : start + 90], article=f"article:{article}")
        assert answer["data"]["article"]["commentCount"] == sum(each.poster is not None for each in comments)
        seen |= {node["id"]: node for node in answer["data"]["nodes"]}
    for each in comments:
        node, ancestors = seen[f"comment:{each.number}"], []
        above = parents[node["id"]]
        while above:
            ancestors.insert(0, {"id": above})
            above = parents[above]
        assert node["ancestors"] == ancestors
        assert (node["depth"], node["parent"]) == (len(ancestors), ancestors[-1] if ancestors else None)
        assert node["descendantCount"] == discussions.descendants(comments, each.number)
        assert node["replyCount"] == sum(reply.parent == each.number and reply.poster is not None for reply in comments)


async def test_deleted_comment_with_replies_is_a_stub(store, ask, token, article):  # C6
    top = await commented(store, article, "vera")
    reply = await commented(store, article, "bob", top)
    await store.comments.delete(top.number, "vera")

    stub = await found(ask, top, token)
    assert (stub["state"], stub["content"], stub["poster"], stub["editedAt"]) == ("DELETED", None, None, None)
    assert (stub["viewerVote"], stub["isVotingOpen"]) == (None, False)
    assert (stub["replyCount"], stub["descendantCount"], stub["article"]["commentCount"]) == (1, 1, 1)
    assert (await found(ask, reply))["parent"] == {"id": f"comment:{top.number}"}
    await store.comments.delete(reply.number, "bob")
    assert await found(ask, top) is None
    assert await found(ask, reply) is None


async def test_voting_on_a_comment_closes_a_week_after_it_was_posted(store, ask, token, article, clock):  # C2
    clock.advance(WEEK)
    comment = await commented(store, article, "bob")
    await store.comments.vote(comment.number, "vera", Vote.UP)
    clock.advance(WEEK)
    token = (await store.sessions.open("vera")).token
    at_a_week = await found(ask, comment, token)
    clock.advance(0.001)
    after = await found(ask, comment, token)

    assert (at_a_week["viewerVote"], at_a_week["isVotingOpen"]) == ("UP", True)
    assert (after["viewerVote"], after["isVotingOpen"], after["votes"]) == (None, False, 2)


async def test_comment_of_a_deleted_article_is_gone(store, ask, article, redis):
    comment = await commented(store, article, "bob")
    await store.site.redis.run(("DEL", keys.article(store.site.partition_of_article(article), article)))

    assert await found(ask, comment) is None
    answer = await ask(NODES, ids=[f"comment:{comment.number}"])
    assert answer["data"]["nodes"] == [None]


async def test_nodes_may_be_comments(store, ask, token, article):
    comment = await commented(store, article, "bob", text="text")
    await store.comments.vote(comment.number, "vera", Vote.DOWN)
    ids = [
        f"comment:{comment.number}",
        f"article:{article}",
        "comment:5",
        f"comment:{article}",
        f"article:{comment.number}",
    ]
    answer = await ask(NODES, token, ids=ids)

    assert "errors" not in answer
    assert answer["data"]["nodes"] == [
        {
            "__typename": "Comment",
            "id": ids[0],
            "votes": 0,
            "viewerVote": "DOWN",
            "isVotingOpen": True,
            "content": "text",
        },
        {
            "__typename": "Article",
            "id": ids[1],
            "votes": 1,
            "viewerVote": "NONE",
            "isVotingOpen": True,
            "title": "a title",
        },
        None,
        None,
        None,
    ]


@pytest.mark.parametrize(
    "id", ["odd", "comment:", "comment:0", "comment:x", "article:1541", "comment:99999999999999999"]
)
async def test_malformed_id_is_an_error(ask, id):
    (error,) = (await ask(COMMENT, id=id))["errors"]

    assert (error["extensions"]["code"], error["path"]) == ("BAD_USER_INPUT", ["comment"])
    assert error["message"] == f"a comment's id looks like comment:1541, not {id}"


async def test_voting_is_not_open_on_a_locked_article_and_its_comments(store, ask, article):
    comment = await commented(store, article, "bob")
    key = keys.article(store.site.partition_of_article(article), article)
    await store.site.redis.run(("HSET", key, "locked", "1"))
    answer = await ask(
        NODES.replace("title", "state isLocked"), ids=[f"article:{article}", f"comment:{comment.number}"]
    )

    locked, below = answer["data"]["nodes"]
    assert (locked["isLocked"], locked["state"], locked["isVotingOpen"]) == (True, "VISIBLE", False)
    assert below["isVotingOpen"] is False


async def test_commenting_is_open_until_an_article_is_locked_hidden_or_too_old(store, ask, article, clock):  # C13
    async def is_open() -> bool:
        answer = await ask("query($ids: [ID!]!) { nodes(ids: $ids) { ... on Article { isCommentingOpen } } }",
                           ids=[f"article:{article}"])  # fmt: skip
        (shown,) = answer["data"]["nodes"]
        return shown["isCommentingOpen"]

    key = keys.article(store.site.partition_of_article(article), article)
    assert await is_open()
    await store.site.redis.run(("HSET", key, "locked", "1"))
    assert not await is_open()
    await store.site.redis.run(("HDEL", key, "locked"))
    clock.advance(86_400)
    object.__setattr__(store.site, "commenting_ms", 86_400_000)  # a frozen record
    assert await is_open()
    clock.advance(0.001)
    assert not await is_open()


@pytest.mark.parametrize("state", ["removed", "pending"])
async def test_content_of_a_comment_that_is_not_visible_is_null(store, ask, article, state):
    comment = await commented(store, article, "bob")
    key = keys.comment(store.site.partition_of_article(article), comment.number)
    await store.site.redis.run(("HSET", key, "state", state))

    hidden = await found(ask, comment)
    assert (hidden["state"], hidden["content"]) == (state.upper(), None)
