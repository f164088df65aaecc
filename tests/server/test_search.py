"""
Searches in a running server.

Codes such as S1 name rows of docs/behaviours.md.
"""

from time import monotonic

import pytest

from tests.server.conftest import POST, REGISTER, Live, serving
from tests.servers import until

SEARCH = "query($words: String!) { search(query: $words) { nodes { ... on Node { id } } } }"
COMMENT = """mutation($id: ID!, $content: String!) { comment(input: {articleId: $id, content: $content}) {
  comment { id } } }"""
DELETE_COMMENT = "mutation($id: ID!) { deleteComment(input: {commentId: $id}) { deletedCommentId } }"
DELETE = "mutation($id: ID!) { deleteArticle(input: {articleId: $id}) { deletedArticleId } }"
EDIT = 'mutation($id: ID!) { editArticle(input: {articleId: $id, title: "Valkey"}) { userErrors { message } } }'

pytestmark = pytest.mark.one_server  # not run on a cluster of Valkey servers


def found(live: Live, query: str) -> list[str]:
    return [node["id"] for node in live.ask(SEARCH, words=query)["data"]["search"]["nodes"]]


def seconds_until_found(live: Live, query: str, id: str) -> float:
    start = monotonic()
    until(lambda: id in found(live, query))
    return monotonic() - start


def test_what_was_posted_is_found_within_a_second_and_what_was_deleted_no_more(tmp_path):  # S1
    with serving(tmp_path) as live:
        until(lambda: live.ask(SEARCH, words="redis")["data"]["search"])  # the server has opened its database
        token = live.ask(REGISTER)["data"]["register"]["token"]
        posts = [live.ask(POST, token, title=f"Redis {number}") for number in range(5)]
        ids = [answer["data"]["post"]["article"]["id"] for answer in posts]

        assert seconds_until_found(live, "redis 4", ids[4]) < 20
        times = []
        for number in range(5):
            id = live.ask(POST, token, title=f"Lists {number}")["data"]["post"]["article"]["id"]
            times.append(seconds_until_found(live, f"lists {number}", id))
        assert min(times) < 1
        assert found(live, "alice") == ["user:alice"]

        live.ask(DELETE, token, id=ids[0])
        assert found(live, "redis") == ids[:0:-1]
        live.ask(EDIT, token, id=ids[1])
        assert found(live, "redis") == ids[:1:-1]
        assert seconds_until_found(live, "valkey", ids[1]) < 20

        comments = [
            live.ask(COMMENT, token, id=ids[4], content=f"Streams {number}")["data"]["comment"]["comment"]["id"]
            for number in range(2)
        ]
        assert seconds_until_found(live, "streams 1", comments[1]) < 20
        live.ask(DELETE_COMMENT, token, id=comments[0])
        assert found(live, "streams") == [comments[1]]
        live.ask(DELETE, token, id=ids[4])
        assert found(live, "streams") == []


def test_search_is_unavailable_while_the_database_does_not_answer(redis_url, tmp_path):
    with serving(tmp_path, redis_url=redis_url, database_url=f"sqlite:///{tmp_path}/missing/upvote.db") as live:
        answer = live.ask(SEARCH, words="redis")

        assert answer["data"] == {"search": None}
        (error,) = answer["errors"]
        assert error["extensions"]["code"] == "UNAVAILABLE"
        assert error["message"].startswith("the database does not answer")
