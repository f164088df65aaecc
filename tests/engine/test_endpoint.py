"""GraphQL over HTTP: methods, media types, malformed requests and caching, with a running server."""

import asyncio
import json

import httpx
import pytest
import strawberry
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strawberry.extensions import SchemaExtension

from engine import Endpoint, Limits
from engine.endpoint import read_body
from engine.errors import Refused
from tests.engine.messages import initialise, receive, subscribe
from tests.engine.sample import CONTEXTS, Query, serving
from tests.examples import examples
from tests.support.answers import code

JSON = {"content-type": "application/json"}
GRAPHQL_RESPONSE = "application/graphql-response+json"


async def test_response_has_the_accepted_media_type(ask):
    default = await ask("{ hello }")
    json_only = await ask("{ hello }", {"accept": "application/json"})

    assert default.json() == json_only.json() == {"data": {"hello": "hello world"}}
    assert default.headers["content-type"] == f"{GRAPHQL_RESPONSE}; charset=utf-8"
    assert json_only.headers["content-type"] == "application/json; charset=utf-8"


async def test_response_to_post_is_not_cached(ask):
    response = await ask("{ hello }")

    assert response.headers["cache-control"] == "no-store"
    assert response.headers["vary"] == "Accept, Accept-Encoding, Authorization"


async def test_variables_and_operation_name_are_used(ask):
    document = "query A { hello } query B($name: String!) { hello(name: $name) }"

    response = await ask(document, operationName="B", variables={"name": "Ada"})

    assert response.json() == {"data": {"hello": "hello Ada"}}


async def test_query_variables_and_operation_name_are_read_from_a_query_string(http):
    response = await http.get(
        "",
        params={"query": "query A($n: String!) { hello(name: $n) }", "variables": '{"n": "Ada"}', "operationName": "A"},
    )

    assert response.json() == {"data": {"hello": "hello Ada"}}


async def test_mutation_requires_post(ask, http):
    posted = await ask("mutation { change }")
    got = await http.get("", params={"query": "mutation { change }"})

    assert posted.json() == {"data": {"change": 1}}
    assert (got.status_code, got.headers["allow"]) == (405, "POST")
    assert code(got) == "METHOD_NOT_ALLOWED"


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE"])
async def test_other_methods_are_not_allowed(http, method):
    response = await http.request(method, "")

    assert (response.status_code, response.headers["allow"]) == (405, "GET, HEAD, POST, OPTIONS")


async def test_options_returns_the_methods(http):
    response = await http.options("")

    assert (response.status_code, response.headers["allow"]) == (204, "GET, HEAD, POST, OPTIONS")


async def test_head_is_get_without_a_body(http):
    response = await http.head("", params={"query": "{ hello }"})

    assert (response.status_code, response.content) == (200, b"")
    assert "etag" in response.headers


async def test_browser_is_redirected_to_the_explorer(http):
    response = await http.get("", headers={"accept": "text/html,application/xhtml+xml,*/*;q=0.8"})

    assert (response.status_code, response.headers["location"]) == (303, "/")


async def test_browser_that_sends_a_query_gets_its_result(http):
    response = await http.get("", params={"query": "{ hello }"}, headers={"accept": "text/html,*/*;q=0.8"})

    assert response.json() == {"data": {"hello": "hello world"}}


async def test_unknown_media_types_are_not_acceptable(ask):
    response = await ask("{ hello }", {"accept": "application/xml"})

    assert (response.status_code, code(response)) == (406, "NOT_ACCEPTABLE")


@pytest.mark.parametrize(
    "content_type",
    [
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=latin1",
    ],
)
async def test_other_content_types_are_unsupported(http, content_type):
    response = await http.post("", content=b'{"query": "{ hello }"}', headers={"content-type": content_type})

    assert (response.status_code, code(response)) == (415, "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.parametrize(
    "content_type", ["application/json", "application/json; charset=utf-8", 'Application/JSON;charset="UTF-8"']
)
async def test_json_content_types_are_accepted(http, content_type):
    response = await http.post("", content=b'{"query": "{ hello }"}', headers={"content-type": content_type})

    assert response.status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"1",
        b'"text"',
        b"null",
        b"[]",
        b'[{"query": "{ hello }"}]',
        b"{",
        b"\xff\xfe",
        b'{"query": "\xff"}',
        b'{"query": "\\ud800"}',
        b"[" * 90_000,
        b'{"a":' * 15_000,
        b'{"query": "{ hello }", "variables": {"a": ' + b"9" * 5_000 + b"}}",
        b'{"query": "{ hello }", "variables": {"a": NaN}}',
        b"{}",
        b'{"query": null}',
        b'{"query": "{ hello }", "extensions": {"persistedQuery": 1}}',
        b'{"extensions": {"persistedQuery": {"version": 2, "sha256Hash": "x"}}}',
        b'{"documentId": 1}',
    ],
    ids=lambda body: body[:24].decode("latin-1"),
)
@pytest.mark.parametrize("accept", ["application/json", GRAPHQL_RESPONSE, "text/event-stream"])
async def test_malformed_body_is_a_bad_request(http, body, accept):
    response = await http.post("", content=body, headers={**JSON, "accept": accept})

    assert (response.status_code, code(response)) == (400, "BAD_REQUEST")


@pytest.mark.parametrize(
    "query_string",
    [
        "query=%7Bhello%7D&query=%7Bhello%7D",
        "query=%ff",
        "query=%ed%a0%80",
        "query=%7Bhello%7D&variables=",
        "query=%7Bhello%7D&variables=[1]",
        "query=%7Bhello%7D&extensions=1",
        "&".join(f"a{number}=1" for number in range(30)),
        "nothing=here",
        "",
    ],
)
async def test_malformed_query_string_is_a_bad_request(server, http, query_string):
    response = await http.get(f"{server.url}?{query_string}")

    assert (response.status_code, code(response)) == (400, "BAD_REQUEST")


async def test_long_number_in_a_document_is_refused(ask):
    response = await ask("{ twice(number: " + "9" * 5_000 + ") }")

    assert (response.status_code, code(response)) == (400, "BAD_USER_INPUT")


@pytest.mark.parametrize(
    "number", ["9" * 5_000, "-" + "9" * 5_000, "9" * 1_001, "0." + "9" * 5_000, "1e" + "9" * 5_000]
)
@pytest.mark.parametrize(
    "document", ["{ twice(number: %s) }", "{ echo(id: %s) }", "query ($n: Int = %s) { twice(number: $n) }"]
)
async def test_long_number_in_a_document_is_reported_with_its_location(ask, document, number):
    response = await ask(document % number)

    (error,) = response.json()["errors"]
    assert error["message"] == "a number is longer than 1000 characters"
    assert error["locations"] == [{"line": 1, "column": 1 + document.index("%s")}]


async def test_long_run_of_digits_in_a_string_is_allowed(ask):
    response = await ask('{ echo(id: "' + "9" * 5_000 + '") }')

    assert response.json() == {"data": {"echo": "9" * 5_000}}


@pytest.mark.parametrize("number", ["9" * 5_000, "-" + "9" * 5_000, "1e400"])
async def test_too_large_number_in_variables_is_reported_with_its_location(http, number):
    body = '{"query": "query ($n: Int!) { twice(number: $n) }", "variables": {"n": ' + number + "}}"
    response = await http.post("", content=body, headers=JSON)

    assert (response.status_code, code(response)) == (400, "BAD_REQUEST")
    assert "line 1 column 72" in response.json()["errors"][0]["message"]


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (b"9" * 5_000, "PAYLOAD_TOO_LARGE"),
        (b"1e3", "BAD_REQUEST"),
        (b"-5", "BAD_REQUEST"),
        (b"", "BAD_REQUEST"),
    ],
    ids=["long", "float", "negative", "empty"],
)
async def test_invalid_content_length_is_refused(length, expected):
    with pytest.raises(Refused) as refused:
        await read_body({b"content-length": length}, receive=None, max_body=100_000)

    assert refused.value.code == expected


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate", "identity, gzip", "x"])
async def test_content_encoding_is_unsupported(http, encoding):
    response = await http.post("", content=b'{"query": "{ hello }"}', headers={**JSON, "content-encoding": encoding})

    assert (response.status_code, code(response)) == (415, "UNSUPPORTED_MEDIA_TYPE")


async def test_body_beyond_the_limit_is_too_large(http):
    response = await http.post("", content=b" " * 100_001, headers=JSON)

    assert (response.status_code, code(response)) == (413, "PAYLOAD_TOO_LARGE")


async def test_chunked_body_beyond_the_limit_is_too_large(http):
    response = await http.post("", content=in_chunks([b" " * 4_000] * 30), headers=JSON)

    assert (response.status_code, code(response)) == (413, "PAYLOAD_TOO_LARGE")


async def test_client_may_disconnect_while_it_sends_its_body(server, ask):
    _, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{")
    await writer.drain()
    writer.close()

    assert (await ask("{ hello }")).status_code == 200


async def test_body_in_chunks_is_read_completely(http):
    pieces = [b'{"query":', b' "{ hello', b' }"}']

    response = await http.post("", content=in_chunks(pieces), headers=JSON)

    assert response.json() == {"data": {"hello": "hello world"}}


async def test_valid_request_id_is_used_and_another_replaced(ask):
    valid = await ask("{ hello }", {"x-request-id": "abc-1.2:3_4"})
    invalid = await ask("{ hello }", {"x-request-id": "no good"})

    assert valid.headers["x-request-id"] == "abc-1.2:3_4"
    assert len(invalid.headers["x-request-id"]) == 16


@pytest.mark.parametrize("weak", ["W/", ""])
async def test_public_response_is_revalidated_by_its_weak_etag(http, weak):
    first = await http.get("", params={"query": "{ hello }"})
    tag = first.headers["etag"].removeprefix("W/")
    second = await http.get("", params={"query": "{ hello }"}, headers={"if-none-match": f'"x", {weak}{tag}'})

    assert first.headers["etag"] == f"W/{tag}"
    assert first.headers["cache-control"] == "public, max-age=0, must-revalidate"
    assert (second.status_code, second.content) == (304, b"")
    assert second.headers["etag"] == first.headers["etag"]
    assert second.headers["cache-control"] == first.headers["cache-control"]


async def test_changed_response_is_sent_again(http):
    first = await http.get("", params={"query": "{ hello }"})
    other = await http.get(
        "", params={"query": "{ twice(number: 2) }"}, headers={"if-none-match": first.headers["etag"]}
    )

    assert other.json() == {"data": {"twice": 4}}


@pytest.mark.parametrize("headers", [{"authorization": "Bearer t"}, {"X-Stats": "1"}])
async def test_response_to_one_client_is_private(http, headers):
    response = await http.get("", params={"query": "{ whoami }"}, headers=headers)

    assert response.headers["cache-control"] == "private, no-store"
    assert "etag" not in response.headers


async def test_response_with_errors_is_not_cached(http):
    response = await http.get("", params={"query": "{ refuse }"})

    assert response.headers["cache-control"] == "no-store"


async def test_token_reaches_the_context(ask):
    assert (await ask("{ whoami }", {"authorization": "Bearer secret"})).json() == {"data": {"whoami": "secret"}}
    assert (await ask("{ whoami }", {"authorization": "Basic secret"})).json() == {"data": {"whoami": None}}
    assert (await ask("{ address }")).json() == {"data": {"address": "127.0.0.1"}}


async def test_stats_are_returned_on_request(ask):
    response = await ask("{ hello again: hello }", {"X-Stats": "1"})

    assert response.json()["extensions"] == {"stats": {"roundTrips": 2, "commands": 0}, "cost": 0}


async def test_each_operation_has_its_own_context(ask, contexts):
    await ask("{ hello }")
    await ask("{ hello }")

    assert [context.usage.round_trips for context in contexts.opened] == [1, 1]


async def test_introspection_is_allowed(ask):
    response = await ask("{ __schema { queryType { name } } }")

    assert response.json() == {"data": {"__schema": {"queryType": {"name": "Query"}}}}


async def test_result_that_orjson_cannot_encode_is_encoded(ask):
    response = await ask("{ surrogate }")

    assert response.content == rb'{"data": {"surrogate": "\ud800"}}'


async def test_operation_beyond_its_time_limit_is_refused(contexts):
    with serving(limits=Limits(seconds=0.5)) as server:
        async with httpx.AsyncClient(base_url=server.url) as client, server.socket() as socket:
            response = await client.post("", json={"query": "{ hello never }"})
            await initialise(socket)
            await subscribe(socket, "{ never }")
            refused = await receive(socket)
            await subscribe(socket, "{ hello }", "2")

            assert (await receive(socket))["payload"] == {"data": {"hello": "hello world"}}
    assert (response.status_code, code(response)) == (504, "TIMEOUT")
    assert refused["payload"] == response.json()["errors"]


def test_schema_with_extensions_is_not_served():
    schema = strawberry.Schema(Query, extensions=[SchemaExtension])

    with pytest.raises(ValueError, match="extensions"):
        Endpoint(schema, CONTEXTS.open, {})


def test_endpoint_without_an_explorer_does_not_redirect():
    with serving(explorer_path=None) as server:
        response = httpx.get(server.url, headers={"accept": "text/html,*/*"})

    assert response.status_code == 400


@pytest.fixture(scope="module")
def client(server):
    with httpx.Client(base_url=server.url) as client:
        yield client


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
json_requests = st.dictionaries(
    st.sampled_from(["query", "variables", "operationName", "extensions", "documentId"]), json_values
)
bodies = st.binary() | json_values.map(json.dumps).map(str.encode) | json_requests.map(json.dumps).map(str.encode)
accepts = st.sampled_from(["application/json", GRAPHQL_RESPONSE, "text/event-stream", "*/*"]) | st.text(
    "*/;=q.01, aplicton", max_size=30
).map(str.strip)
many_requests = settings(
    max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@many_requests
@given(body=bodies, accept=accepts)
def test_no_body_causes_an_internal_error(client, body, accept):
    response = client.post("", content=body, headers={**JSON, "accept": accept})

    assert response.status_code < 500


@many_requests
@given(
    query=st.text(st.characters(codec="utf-8")),
    variables=json_values.map(json.dumps) | st.text(st.characters(codec="utf-8")),
)
def test_no_query_string_causes_an_internal_error(client, query, variables):
    response = client.get("", params={"query": query, "variables": variables})

    assert response.status_code < 500


async def in_chunks(pieces):
    for piece in pieces:
        yield piece
