"""
Mutations through GraphQL: sessions, articles, votes and follows. Payloads, and refusals as `userErrors`.

The fixture `token` is a session token of the user vera. Codes such as A8 name rows of docs/behaviours.md.
"""

import pytest

from store import keys
from store.records import Vote
from tests.store.reading import everything, post
from tests.support.refusals import WEEK, WHY

REGISTER = (
    "mutation($input: RegisterInput!) { register(input: $input) { user { id } token userErrors { ...Why } } }" + WHY
)
POST = (
    """mutation($input: PostInput!) {
  post(input: $input) { replayed article { id title viewerVote } userErrors { ...Why } } }"""
    + WHY
)
VOTE = (
    """mutation($input: VoteInput!) {
  vote(input: $input) { changed article { votes viewerVote } userErrors { ...Why } } }"""
    + WHY
)
EDIT = (
    """mutation($input: EditArticleInput!) {
  editArticle(input: $input) { article { title link content editedAt } userErrors { ...Why } } }"""
    + WHY
)
REGROUP = (
    """mutation($input: RegroupArticleInput!) {
  regroupArticle(input: $input) { article { groups { name } } userErrors { ...Why } } }"""
    + WHY
)
DELETE = (
    """mutation($input: DeleteArticleInput!) {
  deleteArticle(input: $input) { deletedArticleId userErrors { ...Why } } }"""
    + WHY
)


async def test_registering_logging_out_and_logging_in_again(ask, clock):
    register = """mutation { register(input: {username: "Alice", password: "correct horse"}) {
      user { id karma } token expiresAt userErrors { code } query { viewer { username } } } }"""
    log_in = register.replace("register", "logIn").replace("Alice", "alice")
    registered = (await ask(register))["data"]["register"]
    ended = (await ask("mutation { logOut { userErrors { code } query { viewer { id } } } }", registered["token"]))[
        "data"
    ]
    viewer = (await ask("{ viewer { id } }", registered["token"]))["data"]["viewer"]
    again = (await ask(log_in))["data"]["logIn"]

    assert registered["user"] == {"id": "user:alice", "karma": 0}
    assert registered["expiresAt"] == "2016-08-05T11:52:00.000Z"
    assert registered["query"] == again["query"] == {"viewer": {"username": "Alice"}}
    assert ended == {"logOut": {"userErrors": [], "query": {"viewer": None}}}
    assert viewer is None
    assert again["token"] != registered["token"]


async def test_refused_registration_names_the_field(ask, token):
    taken = (await ask(REGISTER, input={"username": "VERA", "password": "correct horse"}))["data"]["register"]
    short = (await ask(REGISTER, input={"username": "alice", "password": "short"}))["data"]["register"]

    assert taken["user"] is None and taken["token"] is None
    assert taken["userErrors"] == [
        {
            "__typename": "Refusal",
            "code": "USERNAME_TAKEN",
            "message": "the name VERA is taken",
            "field": ["input", "username"],
        }
    ]
    assert [(error["code"], error["field"]) for error in short["userErrors"]] == [("INVALID", ["input", "password"])]


async def test_refusal_lists_all_faults_of_an_input(ask, token, redis):  # A8
    id = (await ask(POST, token, input={"title": "a title", "content": "a text"}))["data"]["post"]["article"]["id"]
    before = everything(redis)
    inputs = [
        (REGISTER, {"username": "a b", "password": "short"}, ["username", "password"]),
        (REGISTER, {"username": "a b", "password": "password"}, ["username", "password"]),
        (POST, {"title": "", "groups": ["show", "a b", "-"]}, ["title", "link", "groups", "groups"]),
        (
            POST,
            {"title": "\u200b", "link": "ftp://a.example/", "content": "a\x00", "idempotencyKey": ""},
            [
                "title",
                "link",
                "content",
                "idempotencyKey",
            ],
        ),
        (EDIT, {"articleId": "odd", "title": None, "link": "example.com"}, ["articleId", "title", "link"]),
        (EDIT, {"articleId": id, "title": "x" * 301, "content": "a\x00"}, ["title", "content"]),
        (REGROUP, {"articleId": "odd", "add": [""], "remove": ["a b"]}, ["articleId", "add", "remove"]),
    ]
    for mutation, given, fields in inputs:
        (payload,) = (await ask(mutation, token, input=given))["data"].values()
        assert [(error["code"], error["field"]) for error in payload["userErrors"]] == [
            ("INVALID", ["input", field]) for field in fields
        ]

    assert everything(redis) == before


async def test_refusal_lists_at_most_ten_wrong_groups(ask, token):
    given = {"title": "a title", "content": "a text", "groups": [f"a {number}" for number in range(1_000)]}
    errors = (await ask(POST, token, input=given))["data"]["post"]["userErrors"]

    assert len(errors) == 10
    assert errors[9]["message"].endswith("the first a letter or digit, not 'a 9'")


async def test_post_returns_the_article(ask, token):  # A3, A7
    given = {"title": "a title", "link": "https://example.com/", "idempotencyKey": "my key"}
    first = (await ask(POST, token, input=given))["data"]["post"]
    again = (await ask(POST, token, input=given))["data"]["post"]
    other = (await ask(POST, token, input=given | {"title": "another"}))["data"]["post"]

    assert (first["replayed"], again["replayed"]) == (False, True)
    assert first["article"] == again["article"]
    assert (first["article"]["title"], first["article"]["viewerVote"]) == ("a title", "UP")
    assert [error["code"] for error in other["userErrors"]] == ["IDEMPOTENCY_MISMATCH"]


async def test_double_click_posts_once(ask, token, clock):  # A7
    given = {"title": "a title", "link": "https://example.com/"}
    first, double = [(await ask(POST, token, input=given))["data"]["post"] for _ in range(2)]
    clock.advance(10.001)
    later = (await ask(POST, token, input=given))["data"]["post"]

    assert (first["replayed"], double["replayed"], later["replayed"]) == (False, True, False)
    assert double == first | {"replayed": True}
    assert later["article"]["id"] != first["article"]["id"]


async def test_vote_returns_the_changed_article(store, ask, alice, token):  # V3
    id = (await post(store, alice)).id
    answers = [
        (await ask(VOTE, token, input={"articleId": id, **given}))["data"]["vote"]
        for given in ({}, {}, {"value": "DOWN"})
    ]

    assert answers == [
        {"changed": True, "article": {"votes": 2, "viewerVote": "UP"}, "userErrors": []},
        {"changed": False, "article": {"votes": 2, "viewerVote": "UP"}, "userErrors": []},
        {"changed": True, "article": {"votes": 0, "viewerVote": "DOWN"}, "userErrors": []},
    ]


async def test_late_vote_returns_when_voting_closed(store, ask, alice, clock):  # V5
    id = (await post(store, alice)).id
    clock.advance(WEEK + 1)
    token = (await store.users.register("vera", "correct horse")).token

    answer = (await ask(VOTE, token, input={"articleId": id}))["data"]["vote"]
    assert answer == {
        "changed": False,
        "article": None,
        "userErrors": [
            {
                "__typename": "VotingClosed",
                "code": "VOTING_CLOSED",
                "message": f"voting on {id} closed",
                "field": ["input", "articleId"],
                "closedAt": "2016-08-11T11:52:00.000Z",
            }
        ],
    }


async def test_locked_article_refuses_votes(store, ask, alice, token, redis):
    posted = await post(store, alice)
    redis.hset(keys.article(store.site.partition_of_article(posted.number), posted.number), "locked", "1")

    answer = (await ask(VOTE, token, input={"articleId": posted.id}))["data"]["vote"]
    assert (answer["article"], answer["changed"]) == (None, False)
    assert [(error["code"], error["field"]) for error in answer["userErrors"]] == [("LOCKED", ["input", "articleId"])]


async def test_edit_keeps_fields_that_are_left_out_and_clears_null_fields(ask, token, clock):
    given = {"title": "a title", "link": "https://example.com/", "content": "a text"}
    id = (await ask(POST, token, input=given))["data"]["post"]["article"]["id"]
    clock.advance(1)

    edited = (await ask(EDIT, token, input={"articleId": id, "title": "another", "content": None}))["data"][
        "editArticle"
    ]
    bare = (await ask(EDIT, token, input={"articleId": id, "link": None}))["data"]["editArticle"]
    untitled = (await ask(EDIT, token, input={"articleId": id, "title": None}))["data"]["editArticle"]

    assert edited["article"] == {
        "title": "another",
        "link": "https://example.com/",
        "content": None,
        "editedAt": "2016-08-04T11:52:01.000Z",
    }
    assert [(error["code"], error["field"]) for error in bare["userErrors"]] == [("INVALID", ["input", "link"])]
    assert [(error["code"], error["field"]) for error in untitled["userErrors"]] == [("INVALID", ["input", "title"])]


async def test_regroup_and_delete_return_their_results(ask, token):  # G1
    id = (await ask(POST, token, input={"title": "a title", "link": "https://example.com/"}))["data"]["post"][
        "article"
    ]["id"]
    regrouped = (await ask(REGROUP, token, input={"articleId": id, "add": ["b", "a"], "remove": ["b"]}))["data"]
    deleted = (await ask(DELETE, token, input={"articleId": id}))["data"]["deleteArticle"]
    again = (await ask(DELETE, token, input={"articleId": id}))["data"]["deleteArticle"]

    assert regrouped["regroupArticle"]["article"]["groups"] == [{"name": "a"}]
    assert deleted == {"deletedArticleId": id, "userErrors": []}
    assert [(error["code"], error["field"]) for error in again["userErrors"]] == [("NOT_FOUND", ["input", "articleId"])]
    assert (await ask("query($id: ID!) { article(id: $id) { id } }", id=id))["data"]["article"] is None


@pytest.mark.parametrize(
    ("mutation", "extra"),
    [
        (POST, {"title": "a title", "link": "https://example.com/"}),
        (VOTE, {}),
        (EDIT, {"title": "b"}),
        (REGROUP, {}),
        (DELETE, {}),
    ],
)
@pytest.mark.parametrize("token", [None, "A" * 46, "nonsense"])
async def test_mutation_without_a_session_changes_nothing(store, ask, alice, redis, mutation, extra, token):
    id = (await post(store, alice)).id
    before = everything(redis)
    given = extra if mutation is POST else {"articleId": id, **extra}
    (payload,) = (await ask(mutation, token, input=given))["data"].values()

    assert [(error["code"], error["field"]) for error in payload["userErrors"]] == [("UNAUTHENTICATED", None)]
    assert everything(redis) == before


@pytest.mark.parametrize(("mutation", "extra"), [(EDIT, {"title": "b"}), (REGROUP, {"add": ["a"]}), (DELETE, {})])
async def test_only_the_poster_may_change_an_article(store, ask, alice, redis, token, mutation, extra):  # G6
    id = (await post(store, alice)).id
    before = everything(redis)
    (payload,) = (await ask(mutation, token, input={"articleId": id, **extra}))["data"].values()

    assert [(error["code"], error["field"]) for error in payload["userErrors"]] == [
        ("FORBIDDEN", ["input", "articleId"])
    ]
    assert everything(redis) == before


@pytest.mark.parametrize("id", ["", "1541", "article:0", "article:-1", "user:alice", "article:1541 ", "article:\u0661"])
@pytest.mark.parametrize(("mutation", "extra"), [(VOTE, {}), (EDIT, {"title": "b"}), (REGROUP, {}), (DELETE, {})])
async def test_malformed_id_is_refused(ask, token, redis, mutation, extra, id):  # V8
    before = everything(redis)
    (payload,) = (await ask(mutation, token, input={"articleId": id, **extra}))["data"].values()

    assert [(error["code"], error["field"]) for error in payload["userErrors"]] == [("INVALID", ["input", "articleId"])]
    assert everything(redis) == before


async def test_mutation_sees_the_changes_of_earlier_ones_in_the_request(store, ask, alice, token):
    id = (await post(store, alice)).id
    answer = await ask(
        """mutation($id: ID!) {
          up: vote(input: {articleId: $id}) {
            article { votes voters { totalCount } } query { article(id: $id) { votes } } }
          down: vote(input: {articleId: $id, value: DOWN}) { article { votes } query { article(id: $id) { votes } } }
        }""",
        token,
        id=id,
    )

    assert answer["data"] == {
        "up": {"article": {"votes": 2, "voters": {"totalCount": 2}}, "query": {"article": {"votes": 2}}},
        "down": {"article": {"votes": 0}, "query": {"article": {"votes": 0}}},
    }
    assert (await store.articles.vote(int(id.removeprefix("article:")), "vera", Vote.DOWN)).changed is False


async def test_change_of_password_returns_the_user(ask, token):
    change = """mutation($old: String!, $new: String!) {
      changePassword(input: {currentPassword: $old, newPassword: $new}) {
        user { username } userErrors { code field } query { viewer { username } } } }"""

    wrong = await ask(change, token, old="wrong horse", new="battery staple")
    short = await ask(change, token, old="correct horse", new="short")
    right = await ask(change, token, old="correct horse", new="battery staple")

    vera = {"username": "vera"}
    refused = {"user": None, "query": {"viewer": vera}}
    assert wrong["data"]["changePassword"] == refused | {
        "userErrors": [{"code": "BAD_CREDENTIALS", "field": ["input", "currentPassword"]}]
    }
    invalid = {"code": "INVALID", "field": ["input", "newPassword"]}
    assert short["data"]["changePassword"] == refused | {"userErrors": [invalid]}
    assert right["data"]["changePassword"] == {"user": vera, "query": {"viewer": vera}, "userErrors": []}


@pytest.mark.parametrize("mutation", ["followUser", "unfollowUser"])
async def test_session_is_checked_before_the_id(ask, mutation):
    query = f'mutation {{ {mutation}(input: {{userId: "nobody"}}) {{ userErrors {{ code }} }} }}'

    assert (await ask(query))["data"][mutation]["userErrors"] == [{"code": "UNAUTHENTICATED"}]
