"""
Wrong paging arguments are refused even if the listing is empty or deleted.

The fixture `token` is a session token of the user vera. Codes such as V6 name rows of docs/behaviours.md.
"""

import pytest

from resolvers import pagination
from store.maintenance.import_stories import Story, import_batch
from tests.store.reading import post

WEEK = 7 * 86_400  # seconds, in which an article takes votes
OTHER = pagination.encode_cursor("another", (1.0, "1"))
WRONG = [
    ("first: 0", "first is 1 to 100, not 0"),
    ("last: 101", "last is 1 to 100, not 101"),
    ("first: 1, last: 1", "first and last exclude each other"),
    (f'last: 1, after: "{OTHER}"', "after goes with first; last goes with before"),
    (f'before: "{OTHER}"', "before goes with last"),
    (f'after: "{OTHER}"', "this cursor belongs to another listing"),
    ('after: "?"', "this is not a valid cursor"),
]
FIELDS = {
    "articles": "{ articles(%s) { totalCount } }",
    "articles of an unknown group": '{ articles(group: "none", %s) { totalCount } }',
    "front page of a day without articles": '{ frontPage(date: "2001-01-01", %s) { totalCount } }',
    "groups": "{ groups(%s) { totalCount } }",
    "unknown group": '{ group(name: "none") { articles(%s) { totalCount } } }',
    "user without articles": '{ user(username: "vera") { articles(%s) { totalCount } } }',
    "user without followers": '{ user(username: "vera") { followers(%s) { totalCount } } }',
    "user who follows nobody": '{ user(username: "vera") { following(%s) { totalCount } } }',
    "user without comments": '{ user(username: "vera") { comments(%s) { totalCount } } }',
    "feed without articles": "{ feed { articles(%s) { totalCount } } }",
    "feed of which nothing is unseen": "{ feed { articles(unseenOnly: true, %s) { totalCount } } }",
}
VOTERS = '{ article(id: "%s") { voters(%s) { totalCount } } }'


@pytest.mark.parametrize("field", FIELDS)
async def test_wrong_arguments_are_refused_for_empty_listings(ask, token, field):
    for arguments, message in WRONG:
        answer = await ask(FIELDS[field] % arguments, token)
        assert [error["message"] for error in answer["errors"]] == [message]
        assert answer["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"


async def test_wrong_arguments_of_voters_are_refused_before_and_after_voting_closes(ask, store, alice, clock):  # V6
    article = await post(store, alice)
    for _ in range(2):
        for arguments, message in WRONG:
            answer = await ask(VOTERS % (article.id, arguments))
            assert [error["message"] for error in answer["errors"]] == [message]
        clock.advance(WEEK + 1)

    assert (await ask(VOTERS % (article.id, "first: 1")))["data"] == {"article": {"voters": None}}


@pytest.mark.parametrize("field", ["comments", "thread"])
async def test_wrong_arguments_are_refused_for_an_article_without_comments(ask, store, alice, field):
    article = await post(store, alice)
    largest = 500 if field == "thread" else 100
    wrong = [
        ("first: 0", f"first is 1 to {largest}, not 0"),
        (f"last: {largest + 1}", f"last is 1 to {largest}, not {largest + 1}"),
        *WRONG[2:],
    ]
    for arguments, message in wrong:
        answer = await ask(f'{{ article(id: "{article.id}") {{ {field}({arguments}) {{ totalCount }} }} }}')
        assert [(error["message"], error["path"]) for error in answer["errors"]] == [(message, ["article", field])]


async def test_wrong_arguments_of_voters_are_refused_for_a_page_of_closed_articles(ask, store, clock):  # V6
    old = {"link": "", "poster": "marlow", "time": clock.now - 2 * WEEK * 1000, "votes": 1}
    await import_batch(store, [Story(str(id), "a title", **old) for id in range(3)])

    answer = await ask("{ articles { nodes { voters(first: 1, last: 1) { totalCount } } } }")
    assert {error["message"] for error in answer["errors"]} == {"first and last exclude each other"}
