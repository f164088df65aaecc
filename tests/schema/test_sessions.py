"""
The session of a request: when it ends, and how an answer says that its token names no session, or one that has ended.

The fixture `token` is a session token of the user vera.
"""

import pytest

from store.records import Vote
from store.sessions import RENEWALS_IN_A_LIFETIME, new_token, parse_token
from tests.store.reading import post

LIFETIME = 86_400  # seconds, as the fixture `store` has it
SESSION = "{ session { expiresAt } }"
LOG_IN = """mutation($password: String!) { logIn(input: {username: "vera", password: $password}) {
  token expiresAt userErrors { code } query { session { expiresAt } } } }"""
LOG_OUT = "mutation { logOut { userErrors { code } } }"
VOTE = "mutation($id: ID!) { vote(input: {articleId: $id}) { userErrors { code } } }"
CHANGE = """mutation { changePassword(input: {currentPassword: "correct horse", newPassword: "battery staple"}) {
  userErrors { code } query { session { expiresAt } } } }"""
READS = [
    "{ viewer { username } }",
    "{ feed { unseenCount } }",
    SESSION,
    "{ articles { nodes { title viewerVote poster { viewerIsFollowing } } } }",
    "{ articles { totalCount } }",
    '{ node(id: "feed:vera") { id } }',
    '{ user(username: "vera") { karma } }',
]


async def logged_out(store, token, clock):
    await store.sessions.close(parse_token(token))
    return token


async def expired(store, token, clock):
    clock.advance(LIFETIME + 1)
    return token


async def unknown(store, token, clock):
    return new_token("vera")


async def malformed(store, token, clock):
    return "eyJhbGciOiJub25lIn0.e30."


# each returns a token whose session has ended, or that never had one
ENDS = (logged_out, expired, unknown, malformed)


def session(answer):
    return answer["extensions"].get("session")


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("query", READS)
async def test_response_to_an_ended_session_is_anonymous_and_says_so(store, ask, alice, clock, token, end, query):
    await post(store, alice)
    token = await end(store, token, clock)

    anonymous = await ask(query)
    answers = [await ask(query, token) for _ in range(3)]  # executed by graphql-core, and then by a plan

    assert session(anonymous) is None
    assert [session(answer) for answer in answers] == ["ended"] * 3
    assert [answer["data"] for answer in answers] == [anonymous["data"]] * 3


@pytest.mark.parametrize("query", READS)
async def test_answer_to_a_session_says_nothing_of_its_end(store, ask, alice, token, query):
    await post(store, alice)

    assert [session(await ask(query, token)) for _ in range(3)] == [None] * 3


@pytest.mark.parametrize(("end", "status"), [(logged_out, None), (malformed, "ended")])
@pytest.mark.parametrize("query", ["{ __typename }", '{ group(name: "show") { name } }'])
async def test_session_is_not_read_if_nothing_else_is(store, ask, token, clock, query, end, status):
    answer = await ask(query, await end(store, token, clock))

    assert answer["extensions"]["stats"]["roundTrips"] == 0
    assert session(answer) == status


@pytest.mark.parametrize("end", ENDS)
async def test_refused_mutation_says_that_the_session_ended(store, ask, alice, token, clock, end):
    article = await post(store, alice)
    token = await end(store, token, clock)

    vote, log_out = await ask(VOTE, token, id=article.id), await ask(LOG_OUT, token)
    anonymous = await ask(VOTE, id=article.id)

    assert vote["data"] == anonymous["data"] == {"vote": {"userErrors": [{"code": "UNAUTHENTICATED"}]}}
    assert (session(vote), session(log_out), session(anonymous)) == ("ended", "ended", None)


async def test_log_out_does_not_report_an_ended_session(ask, token):
    assert session(await ask("mutation { logOut { query { viewer { id } articles { totalCount } } } }", token)) is None


@pytest.mark.parametrize("end", ENDS)
async def test_log_in_does_not_report_the_end_of_an_old_token(store, ask, token, clock, end):
    """Else a front end would discard its new token."""
    old = await end(store, token, clock)

    right = await ask(LOG_IN, old, password="correct horse")
    wrong = await ask(LOG_IN, old, password="wrong horse")

    assert right["data"]["logIn"]["userErrors"] == []
    assert session(right) is None
    assert wrong["data"]["logIn"]["userErrors"] == [{"code": "BAD_CREDENTIALS"}]
    assert wrong["data"]["logIn"]["query"] == {"session": None}
    assert session(wrong) == "ended"


async def test_session_ends_at_the_time_that_log_in_returned(ask, token, clock):
    clock.advance(0.5)
    opened = (await ask(LOG_IN, password="correct horse"))["data"]["logIn"]
    read = (await ask(SESSION, opened["token"]))["data"]["session"]

    assert read == {"expiresAt": opened["expiresAt"]} == {"expiresAt": "2016-08-05T11:52:00.500Z"}
    assert opened["query"] == {"session": read}
    assert (await ask(SESSION))["data"] == {"session": None}


async def test_use_extends_the_session_and_returns_its_new_end(store, ask, token, clock):
    first = (await ask(SESSION, token))["data"]["session"]["expiresAt"]
    clock.advance(LIFETIME / RENEWALS_IN_A_LIFETIME)  # a use extends the session only if the last one is longer ago
    same = (await ask("{ viewer { id } session { expiresAt } }", token))["data"]["session"]["expiresAt"]
    clock.advance(1)
    later = (await ask("{ viewer { id } session { expiresAt } }", token))["data"]["session"]["expiresAt"]
    again = (await ask(SESSION, token))["data"]["session"]["expiresAt"]

    assert first == same == "2016-08-05T11:52:00.000Z"
    assert later == again == "2016-08-05T12:52:01.000Z"


async def test_write_does_not_hide_when_the_session_ends(store, ask, alice, token, clock):
    """A write checks the session, but does not return its end, which is read separately."""
    article = await post(store, alice)
    vote = """mutation($id: ID!) {
      vote(input: {articleId: $id}) { article { viewerVote } query { session { expiresAt } } } }"""
    clock.advance(60)

    answer = await ask(vote, token, id=article.id)

    assert answer["data"]["vote"] == {
        "article": {"viewerVote": "UP"},
        "query": {"session": {"expiresAt": "2016-08-05T11:52:00.000Z"}},
    }


async def test_change_of_password_keeps_the_session_as_it_is(ask, token, clock):
    other = (await ask(LOG_IN, password="correct horse"))["data"]["logIn"]["token"]
    clock.advance(60)
    before = (await ask(SESSION, token))["data"]["session"]
    changed = (await ask(CHANGE, token))["data"]["changePassword"]

    assert changed == {"userErrors": [], "query": {"session": before}}
    assert (await ask(SESSION, token))["data"]["session"] == before == {"expiresAt": "2016-08-05T11:52:00.000Z"}
    assert session(await ask(SESSION, other)) == "ended"


async def test_session_is_read_in_the_same_round_trip(store, ask, alice, bob, token):
    article = await post(store, alice)
    await store.articles.vote(article.number, bob, Vote.UP)
    page = "articles(first: 5) { nodes { title viewerVote poster { karma } } }"

    with_session = f"{{ session {{ expiresAt }} {page} }}"
    await ask(f"{{ {page} }}", token)  # fills the cache

    alone, both = await ask(f"{{ {page} }}", token), await ask(with_session, token)
    anonymous, ended = await ask(f"{{ {page} }}"), await ask(f"{{ {page} }}", new_token("vera"))

    trips = [answer["extensions"]["stats"]["roundTrips"] for answer in (alone, both, anonymous, ended)]
    assert trips[0] == trips[1] and trips[2] == trips[3]
    assert (await ask(SESSION, token))["extensions"]["stats"] == {"roundTrips": 1, "commands": 1}
