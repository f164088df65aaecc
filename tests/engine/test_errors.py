"""Every error has a code, expected ones keep their message, and a fault is logged once and masked."""

import logging

import pytest

from engine.documents import MAX_ERRORS
from tests.support.answers import code

JSON, GRAPHQL_RESPONSE = "application/json", "application/graphql-response+json"


@pytest.mark.parametrize(
    ("request_body", "expected"),
    [
        ({"query": "{"}, "GRAPHQL_PARSE_FAILED"),
        ({"query": ""}, "GRAPHQL_PARSE_FAILED"),
        ({"query": "{" * 19_000}, "GRAPHQL_PARSE_FAILED"),
        ({"query": "{down" * 3_000}, "GRAPHQL_PARSE_FAILED"),
        ({"query": "{" + " hello" * 2_000 + "}"}, "GRAPHQL_PARSE_FAILED"),
        ({"query": "{ hello } #" + " " * 20_000}, "GRAPHQL_PARSE_FAILED"),
        ({"query": "{ nothing }"}, "GRAPHQL_VALIDATION_FAILED"),
        ({"query": "fragment A on Query { hello }"}, "OPERATION_RESOLUTION_FAILURE"),
        ({"query": "query A { hello } query B { hello }"}, "OPERATION_RESOLUTION_FAILURE"),
        ({"query": "query A { hello }", "operationName": "B"}, "OPERATION_RESOLUTION_FAILURE"),
        ({"query": "query ($n: Int!) { twice(number: $n) }"}, "BAD_USER_INPUT"),
        ({"query": "query ($n: Int!) { twice(number: $n) }", "variables": {"n": "x"}}, "BAD_USER_INPUT"),
        ({"query": "query ($at: DateTime!) { day(at: $at) }", "variables": {"at": "x"}}, "BAD_USER_INPUT"),
        ({"query": '{ day(at: "x") }'}, "BAD_USER_INPUT"),
    ],
    ids=lambda value: str(value)[:60],
)
async def test_refused_request_has_a_code_and_no_data(http, request_body, expected):
    as_json = await http.post("", json=request_body, headers={"accept": JSON})
    as_response = await http.post("", json=request_body, headers={"accept": GRAPHQL_RESPONSE})

    assert (as_json.status_code, as_response.status_code) == (200, 400)
    assert as_json.json() == as_response.json()
    assert "data" not in as_response.json()
    assert {error["extensions"]["code"] for error in as_response.json()["errors"]} == {expected}


async def test_invalid_argument_is_bad_input(ask):
    response = await ask('query ($n: String = "x") { hello(name: $n) }', variables={"n": None})

    assert (response.status_code, code(response)) == (200, "BAD_USER_INPUT")


async def test_expected_exception_has_its_code_message_and_extensions(ask, caplog):
    response = await ask("{ hello refuse }")

    assert response.json() == {
        "data": {"hello": "hello world", "refuse": None},
        "errors": [
            {
                "message": "not today",
                "locations": [{"line": 1, "column": 9}],
                "path": ["refuse"],
                "extensions": {"retryAfter": 60, "code": "NOT_TODAY"},
            }
        ],
    }
    assert caplog.records == []


async def test_fault_is_logged_once_and_masked(ask, caplog):
    response = await ask("{ hello fail }", {"x-request-id": "r-1"})

    assert response.json()["data"] == {"hello": "hello world", "fail": None}
    assert response.json()["errors"] == [
        {
            "message": "internal server error",
            "locations": [{"line": 1, "column": 9}],
            "path": ["fail"],
            "extensions": {"code": "INTERNAL_SERVER_ERROR", "requestId": "r-1"},
        }
    ]
    [record] = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert (record.name, record.getMessage()) == ("engine.errors", "request r-1 failed at fail")
    assert record.request_id == "r-1"
    assert "secret of the field" in str(record.exc_info)


async def test_expected_exception_of_a_context_has_its_code(ask):
    response = await ask("{ hello }", {"authorization": "Bearer revoked"})

    assert (response.status_code, code(response)) == (400, "NOT_TODAY")
    assert response.json()["errors"][0]["message"] == "not today"


async def test_unexpected_exception_of_a_context_is_a_fault(ask, caplog):
    response = await ask("{ hello }", {"authorization": "Bearer bug", "x-request-id": "r-2"})

    assert response.status_code == 500
    assert response.json()["errors"] == [
        {"message": "internal server error", "extensions": {"code": "INTERNAL_SERVER_ERROR", "requestId": "r-2"}}
    ]
    assert [record.getMessage() for record in caplog.records] == ["request r-2 failed at operation"]


async def test_number_of_errors_is_bounded(ask):
    response = await ask("{ down {" + " ".join(f"a{number}" for number in range(100)) + "} }")

    assert len(response.json()["errors"]) == MAX_ERRORS + 1  # the last says that there are more
