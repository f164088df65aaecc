"""
Limits of a running server and the settings that change them.

The fixture `live` is a running server with an article, which the tests share.
"""

import asyncio
import re
import time
from dataclasses import fields

import httpx
import pytest
from graphql import parse

from database.words import PHRASE_WORDS, QUERY_WORDS
from engine.limits.cost import cost_of
from resolvers.rate_limits import WriteRates
from schema.schema import SCHEMA
from server.limits import WEIGHTS, document_limits, write_rates
from server.settings import Settings
from store.passwords import QUEUE_LENGTH, THREADS
from tests.server.conftest import REGISTER, serving

POST_WITH_RETRY_AT = """mutation($title: String!) { post(input: {title: $title, link: "https://example.com/"}) {
  userErrors { code ... on RateLimited { retryAt } } } }"""
COMMENT = """mutation($id: ID!, $content: String!) { comment(input: {articleId: $id, content: $content}) {
  userErrors { code } } }"""
REGISTER_WITH_RETRY_AT = """mutation { register(input: {username: "alice", password: "correct horse"}) {
  userErrors { code ... on RateLimited { retryAt } } } }"""
CHANGE_WITH_RETRY_AT = """mutation {
  changePassword(input: {currentPassword: "wrong horse", newPassword: "brown horse"}) {
  userErrors { code ... on RateLimited { retryAt } } } }"""
LOG_IN = 'logIn(input: {username: "alice", password: "correct horse"}) { token }'


def test_each_rate_of_writes_is_that_of_its_setting():
    names = [field.name for field in fields(WriteRates) if f"rate_{field.name}" in Settings.model_fields]
    wanted = {name: number for number, name in enumerate(names, 11)}
    rates = write_rates(Settings(**{f"rate_{name}": number for name, number in wanted.items()}))

    assert len(wanted) >= 9
    assert {name: getattr(rates, name) for name in wanted} == wanted
    assert rates.woken_a_day == WriteRates().woken_a_day  # it has no setting


def test_search_costs_points_by_the_words_of_its_query():
    document = "query($query: String!) { search(query: $query, first: 1) { nodes { __typename } } }"
    (operation,) = parse(document).definitions
    cost = cost_of(SCHEMA._schema, fragments={}, operation=operation, weights=WEIGHTS)
    queries = {
        "redis": 50,
        "redis in action": 50,
        "a b c d e f": 60,
        f'"{"a " * 200}"': 10 * PHRASE_WORDS,
        "日本語の" * 100: 10 * PHRASE_WORDS,
        " ".join(map(str, range(100))): 10 * QUERY_WORDS,
        "": 50,
        "a b " * 200: 50,  # too long, and so refused
    }

    # 2 points are for the page of one match
    assert {query: cost.points({"query": query}) - 2 for query in queries} == queries
    (written,) = parse('{ search(query: "a b c d e f", first: 1) { nodes { __typename } } }').definitions
    assert cost_of(SCHEMA._schema, fragments={}, operation=written, weights=WEIGHTS).points({}) == 62


@pytest.fixture(scope="module")
def token(live) -> str:
    """A token of alice, the poster of the article."""
    token: str = live.ask(f"mutation {{ {LOG_IN} }}")["data"]["logIn"]["token"]
    return token


def test_exclusive_mutations_are_in_the_schema():
    mutations = SCHEMA._schema.mutation_type

    assert document_limits(Settings()).exclusive <= set(mutations.fields)


def test_request_may_try_one_password_only(live):
    answer = live.ask(f"mutation {{ a: {LOG_IN} b: {LOG_IN} }}")

    assert answer["errors"][0]["extensions"]["code"] == "DOCUMENT_LIMIT_EXCEEDED"
    assert "data" not in answer


@pytest.mark.parametrize(
    "page",
    [
        "{ articles(SIZE) { nodes { id } } }",
        "{ articles { nodes { voters(SIZE) { nodes { id } } } } }",
        "{ frontPage(SIZE) { nodes { id } } }",
        "{ groups(SIZE) { nodes { id } } }",
        '{ group(name: "show") { articles(SIZE) { nodes { id } } } }',
        '{ user(username: "alice") { articles(SIZE) { nodes { id } } } }',
        '{ user(username: "alice") { followers(SIZE) { nodes { id } } } }',
        '{ user(username: "alice") { following(SIZE) { nodes { id } } } }',
        "{ feed { articles(SIZE) { nodes { id } } } }",
    ],
)
def test_page_size_out_of_bounds_is_bad_user_input(live, token, page):
    for name in ("first", "last"):
        errors = live.ask(page.replace("SIZE", f"{name}: 10001"), token)["errors"]
        assert {error["extensions"]["code"] for error in errors} == {"BAD_USER_INPUT"}
        assert {error["message"] for error in errors} == {f"{name} is 1 to 100, not 10001"}


def test_introspection_is_answered_unless_it_is_off(live, tmp_path):
    query = "{ __schema { queryType { name } } }"
    with serving(tmp_path, introspection="off") as without_introspection:
        refused = without_introspection.ask(query)

    assert live.ask(query) == {"data": {"__schema": {"queryType": {"name": "Query"}}}}
    assert refused["errors"][0]["extensions"]["code"] == "GRAPHQL_VALIDATION_FAILED"


def test_schema_is_hidden_where_introspection_is_off(live, tmp_path):
    """Neither its file nor the errors of documents and variables tell what is in it."""
    query = "query($order: ArticleOrder) { articles(order: $order) { totalCount } }"
    with serving(tmp_path, introspection="off") as hidden:
        misspelt = [hidden.ask("{ vewer { id } }"), hidden.ask(query, order="TIM")]
        statuses = [httpx.get(f"{each.url}/schema.graphql").status_code for each in (live, hidden)]

    assert statuses == [200, 404]
    assert [answer["errors"][0]["message"] for answer in misspelt] == [
        "Cannot query field 'vewer' on type 'Query'.",
        "Variable '$order' has invalid value: Value 'TIM' does not exist in 'ArticleOrder' enum.",
    ]


def test_failed_log_ins_are_limited(tmp_path):
    wrong = """mutation { logIn(input: {username: "nobody", password: "wrong horse"}) {
      userErrors { code ... on RateLimited { retryAt } } } }"""
    with serving(tmp_path, rate_limits="on") as limited:
        answers = [limited.ask(wrong)["data"]["logIn"]["userErrors"][0] for _ in range(11)]

    assert [answer["code"] for answer in answers] == ["BAD_CREDENTIALS"] * 10 + ["RATE_LIMITED"]
    assert answers[-1]["retryAt"].endswith("Z")


def test_posts_and_points_are_limited(tmp_path):
    ask = "{ articles(first: 40) { nodes { id } } }"
    limits = {"rate_limits": "on", "rate_posts": 2, "rate_comments": 1, "rate_points": 60, "rate_points_back": 0.001}
    with serving(tmp_path, **limits) as limited:
        token = limited.ask(REGISTER)["data"]["register"]["token"]
        titles = ("first", "second", "third")
        posted = [limited.ask(POST_WITH_RETRY_AT, token, title=title)["data"]["post"]["userErrors"] for title in titles]
        article = limited.ask("{ articles(first: 1) { nodes { id } } }")["data"]["articles"]["nodes"][0]["id"]
        commented = [limited.ask(COMMENT, token, id=article, content=text)["data"]["comment"] for text in titles[:2]]
        answers = [limited.post({"query": ask}) for _ in range(4)]

    assert [[error["code"] for error in errors] for errors in posted] == [[], [], ["RATE_LIMITED"]]
    assert posted[2][0]["retryAt"]
    assert [[error["code"] for error in each["userErrors"]] for each in commented] == [[], ["RATE_LIMITED"]]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert int(answers[3].headers["retry-after"]) > 1_000
    assert answers[3].json()["errors"][0]["extensions"]["code"] == "RATE_LIMITED"


def test_registrations_are_limited(tmp_path):
    with serving(tmp_path, rate_limits="on", rate_registrations=1) as limited:
        answers = [limited.ask(REGISTER_WITH_RETRY_AT)["data"]["register"]["userErrors"] for _ in range(2)]

    assert [[error["code"] for error in errors] for errors in answers] == [[], ["RATE_LIMITED"]]
    assert answers[1][0]["retryAt"].endswith("Z")


@pytest.mark.parametrize(("prefix", "counted"), [(64, [0, 0, 1, 0]), (48, [0, 1, 1, 1]), (128, [0, 0, 0, 0])])
def test_addresses_of_an_ipv6_network_are_limited_together(tmp_path, prefix, counted):
    """Registrations and points of four addresses of a /48, of which the first and the third are of one /64."""
    addresses = ["2001:db8:1:1::1", "2001:db8:1:2::1", "2001:db8:1:1::2", "2001:db8:1:3::1"]
    limits = {"rate_registrations": 1, "rate_address_points_back": 0.001, "ipv6_prefix": prefix}
    codes, levels = [], []
    with serving(tmp_path, rate_limits="on", trusted_proxies="127.0.0.1", **limits) as limited:
        for number, address in enumerate(addresses):
            query = REGISTER_WITH_RETRY_AT.replace("alice", f"user-{number}")
            answer = limited.post({"query": query}, {"X-Forwarded-For": address})
            codes.append([error["code"] for error in answer.json()["data"]["register"]["userErrors"]])
            levels.append(int(re.search(r";r=([0-9]+)", answer.headers["RateLimit"])[1]))

    assert codes == [["RATE_LIMITED"] * count for count in counted]
    assert [level < levels[0] for level in levels] == list(map(bool, counted))


def test_failed_log_ins_of_an_ipv6_network_are_limited_together(tmp_path):
    wrong = """mutation { logIn(input: {username: "nobody", password: "wrong horse"}) { userErrors { code } } }"""
    addresses = [f"2001:db8::{number:x}" for number in range(11)]
    with serving(tmp_path, rate_limits="on", trusted_proxies="127.0.0.1") as limited:
        answers = [limited.post({"query": wrong}, {"X-Forwarded-For": address}).json() for address in addresses]

    codes = [answer["data"]["logIn"]["userErrors"][0]["code"] for answer in answers]
    assert codes == ["BAD_CREDENTIALS"] * 10 + ["RATE_LIMITED"]


def test_wrong_current_passwords_are_counted_with_failed_log_ins(tmp_path):
    with serving(tmp_path, rate_limits="on") as limited:
        token = limited.ask(REGISTER)["data"]["register"]["token"]
        changes = [
            limited.ask(CHANGE_WITH_RETRY_AT, token)["data"]["changePassword"]["userErrors"][0] for _ in range(11)
        ]
        log_in = limited.ask("mutation { " + LOG_IN.replace("token", "userErrors { code }") + " }")
        viewer = limited.ask("{ viewer { username } }", token)

    assert [change["code"] for change in changes] == ["BAD_CREDENTIALS"] * 10 + ["RATE_LIMITED"]
    assert changes[-1]["retryAt"].endswith("Z")
    assert log_in["data"]["logIn"]["userErrors"] == [{"code": "RATE_LIMITED"}]
    assert viewer["data"]["viewer"] == {"username": "alice"}


def test_processes_on_one_store_share_the_points_of_an_address(tmp_path, redis_url):
    ask = {"query": "{ articles(first: 40) { nodes { id } } }"}  # 41 points
    points = {"rate_address_points": 1_000, "rate_address_points_back": 0.001}
    settings = {"rate_limits": "on", "redis_url": redis_url, **points}
    with serving(tmp_path, **settings) as spent:
        while spent.post(ask).status_code == 200:
            pass
        with serving(tmp_path, **settings) as other:
            small = {"query": "{ articles(first: 1) { nodes { id } } }"}  # 2 points
            answered = 0
            while answered < 300 and other.post(small).status_code == 200:
                answered += 1
                time.sleep(0.1)

    assert answered < 300  # without the first process it would answer 500


def test_pages_of_other_origins_may_read_responses_only_if_allowed(live, tmp_path):
    allowed, other = {"Origin": "https://allowed.example"}, {"Origin": "https://other.example"}
    preflight = allowed | {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    allow = "access-control-allow-origin"
    with serving(tmp_path, allowed_origins="https://allowed.example") as allowing:
        accepted = httpx.options(f"{allowing.url}/graphql", headers=preflight)
        answered = allowing.post({"query": "{ __typename }"}, allowed)
        hidden = allowing.post({"query": "{ __typename }"}, other)
    unset = httpx.options(f"{live.url}/graphql", headers=preflight)

    assert (accepted.status_code, accepted.headers[allow]) == (200, "https://allowed.example")
    assert answered.headers[allow] == "https://allowed.example"
    assert allow not in hidden.headers
    assert allow not in unset.headers
    assert allow not in live.post({"query": "{ __typename }"}, allowed).headers


async def test_without_rate_limits_the_queue_for_password_hashes_is_unbounded(live):
    """More registrations at once than the queue takes with rate limits."""
    async with httpx.AsyncClient(timeout=60) as client:

        async def registered(number: int) -> dict:
            query = REGISTER_WITH_RETRY_AT.replace("alice", f"many-{number}")
            return (await client.post(f"{live.url}/graphql", json={"query": query})).json()

        answers = await asyncio.gather(*map(registered, range(min(THREADS * (1 + QUEUE_LENGTH) + 20, 200))))

    assert answers == [{"data": {"register": {"userErrors": []}}}] * len(answers)
