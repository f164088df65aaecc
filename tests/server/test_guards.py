"""What guards the running server, as its settings say."""

from schema.contract import SCHEMA
from server import guards
from server.settings import Settings
from tests.server.conftest import serving

LOG_IN = 'logIn(input: {username: "alice", password: "correct horse"}) { token }'


def test_guarded_fields_are_in_the_schema():
    mutations = SCHEMA._schema.mutation_type

    assert guards.limits(Settings()).once <= set(mutations.fields)


def test_passwords_are_tried_one_a_request(live):
    answer = live.ask(f"mutation {{ a: {LOG_IN} b: {LOG_IN} }}")

    assert answer["errors"][0]["extensions"]["code"] == "DOCUMENT_LIMIT_EXCEEDED"
    assert "data" not in answer


def test_introspection_is_answered_unless_it_is_off(live, tmp_path):
    query = "{ __schema { queryType { name } } }"
    with serving(tmp_path, introspection="off") as closed:
        refused = closed.ask(query)

    assert live.ask(query) == {"data": {"__schema": {"queryType": {"name": "Query"}}}}
    assert refused["errors"][0]["extensions"]["code"] == "GRAPHQL_VALIDATION_FAILED"


def test_guessing_passwords_is_too_often_in_the_end(tmp_path):
    wrong = """mutation { logIn(input: {username: "nobody", password: "wrong horse"}) {
      userErrors { code ... on RateLimited { retryAt } } } }"""
    with serving(tmp_path) as guarded:
        answers = [guarded.ask(wrong)["data"]["logIn"]["userErrors"][0] for _ in range(11)]

    assert [answer["code"] for answer in answers] == ["BAD_CREDENTIALS"] * 10 + ["RATE_LIMITED"]
    assert answers[-1]["retryAt"].endswith("Z")
