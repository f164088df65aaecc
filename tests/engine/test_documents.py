"""Persisted documents (Apollo's persisted queries, `documentId`, trusted documents), and parsed operations."""

import json
from contextlib import asynccontextmanager
from hashlib import md5, sha256

import httpx
import pytest
import strawberry
from strawberry.schema.config import StrawberryConfig

from caches import Pool
from engine import Limits, read_trusted_documents
from engine.documents import Operations
from engine.errors import Refused
from tests.engine.messages import initialise, receive, send
from tests.engine.sample import SCHEMA, Query, Server, serving
from tests.support.answers import code

HELLO = "query Hello { hello }"
BYE = 'query Bye { hello(name: "and bye") }'
ECHO = 'query Echo { echo(id: "1") }'


def digest(text):
    return sha256(text.encode()).hexdigest()


def persisted(identifier):
    return {"persistedQuery": {"version": 1, "sha256Hash": identifier}}


async def test_unknown_document_is_requested_and_then_cached(http):
    text = "query Kept { hello }"
    named = {"extensions": persisted(digest(text))}

    before = await http.post("", json=named)
    await http.post("", json={**named, "query": text})
    after = await http.post("", json=named)

    assert (before.status_code, code(before)) == (200, "PERSISTED_QUERY_NOT_FOUND")
    assert before.json()["errors"][0]["message"] == "PersistedQueryNotFound"  # which urql compares, and Apollo the code
    assert after.json() == {"data": {"hello": "hello world"}}


PREFIXES = ("", "sha256:")


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("stored_with", PREFIXES)
async def test_cached_document_is_found_wherever_its_hash_stands_with_or_without_prefix(http, stored_with, prefix):
    text = f"query Stored{len(stored_with)}{len(prefix)} {{ hello }}"
    identifier = prefix + digest(text)
    stored = await http.post("", json={"query": text, "extensions": persisted(stored_with + digest(text))})

    answers = [
        stored,
        await http.get("", params={"extensions": json.dumps(persisted(identifier))}),
        await http.get("", params={"documentId": identifier}),
        await http.post("", json={"extensions": persisted(identifier)}),
        await http.post("", json={"documentId": identifier}),
    ]
    async with websocket(http) as socket:
        for rest in ({"documentId": identifier}, {"extensions": persisted(identifier)}):
            await send(socket, id=str(rest), type="subscribe", payload=rest)
            answers.append(await receive(socket))
            assert (await receive(socket))["type"] == "complete"

    assert [each.json() for each in answers[:5]] == [{"data": {"hello": "hello world"}}] * 5
    assert [each["payload"] for each in answers[5:]] == [{"data": {"hello": "hello world"}}] * 2


@asynccontextmanager
async def websocket(http):
    async with Server(http.base_url.port).socket() as socket:
        await initialise(socket)
        yield socket


async def test_document_with_another_hash_is_a_bad_request(http):
    response = await http.post("", json={"query": ECHO, "extensions": persisted(digest(HELLO + " "))})

    assert (response.status_code, code(response)) == (400, "BAD_REQUEST")


async def test_invalid_document_is_not_cached(http):
    text = "{ nothing }"
    await http.post("", json={"query": text, "extensions": persisted(digest(text))})

    response = await http.post("", json={"extensions": persisted(digest(text))})

    assert code(response) == "PERSISTED_QUERY_NOT_FOUND"


async def test_status_of_an_unknown_document_depends_on_the_media_type(http):
    response = await http.post("", json={"documentId": "none"}, headers={"accept": "application/graphql-response+json"})

    assert (response.status_code, code(response)) == (400, "PERSISTED_QUERY_NOT_FOUND")


@pytest.fixture(scope="module")
def trusting():
    trusted = {digest(HELLO): HELLO, f"sha256:{digest(BYE)}": BYE, md5(ECHO.encode()).hexdigest(): ECHO}
    with serving(trusted_documents=trusted, only_trusted=True) as server, httpx.Client(base_url=server.url) as client:
        yield client


@pytest.mark.parametrize(
    "request_body",
    [
        {"documentId": f"sha256:{digest(HELLO)}"},
        {"documentId": digest(HELLO)},
        {"extensions": persisted(digest(HELLO))},
        {"extensions": persisted(f"sha256:{digest(HELLO)}")},
        {"extensions": persisted(digest(HELLO)), "query": HELLO},
        {"extensions": persisted(f"sha256:{digest(HELLO)}"), "query": HELLO},
        {"documentId": f"sha256:{digest(HELLO)}", "query": HELLO},
        {"query": HELLO},
    ],
)
def test_trusted_document_is_executed(trusting, request_body):
    assert trusting.post("", json=request_body).json() == {"data": {"hello": "hello world"}}


@pytest.mark.parametrize("prefix", PREFIXES)
def test_document_trusted_under_a_prefixed_hash_is_found(trusting, prefix):
    for request_body in ({"documentId": prefix + digest(BYE)}, {"extensions": persisted(prefix + digest(BYE))}):
        assert trusting.post("", json=request_body).json() == {"data": {"hello": "hello and bye"}}
        as_parameters = {
            name: each if isinstance(each, str) else json.dumps(each) for name, each in request_body.items()
        }
        assert trusting.get("", params=as_parameters).json() == {"data": {"hello": "hello and bye"}}


def test_trusted_document_is_found_by_relays_md5(trusting):
    assert trusting.post("", json={"documentId": md5(ECHO.encode()).hexdigest()}).json() == {"data": {"echo": "1"}}


@pytest.mark.parametrize("text", ["{ hello }", "{ __schema { queryType { name } } }", "{"])
def test_other_documents_are_refused(trusting, text):
    response = trusting.post("", json={"query": text})

    assert (response.status_code, code(response)) == (403, "QUERY_NOT_IN_SAFELIST")


def test_other_documents_are_not_cached(trusting):
    text = "{ hello }"
    sent = trusting.post("", json={"query": text, "extensions": persisted(digest(text))})
    named = trusting.post("", json={"extensions": persisted(digest(text))})

    assert code(sent) == "QUERY_NOT_IN_SAFELIST"
    assert code(named) == "PERSISTED_QUERY_NOT_IN_LIST"


@pytest.mark.parametrize("content", ["", "[]", '{"a": 1}', "{"])
def test_file_of_another_format_is_refused_with_its_name(tmp_path, content):
    file = tmp_path / "persisted-documents.json"
    file.write_text(content)

    with pytest.raises(ValueError, match=r"persisted-documents\.json: not"):
        read_trusted_documents(file)


def test_suggestions_are_hidden_if_the_schema_disables_them():
    schema = strawberry.Schema(Query, config=StrawberryConfig(disable_field_suggestions=True))

    with pytest.raises(Refused) as refused:
        operations_of(schema).find("{ helo }", name=None)

    assert refused.value.errors[0]["message"] == "Cannot query field 'helo' on type 'Query'."


def test_operation_is_parsed_once():
    operations = operations_of(SCHEMA)

    assert operations.find("{ hello }", name=None) is operations.find("{ hello }", name=None)


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("{ down { down { hello } } }", 3),
        ("{ down { ...A } } fragment A on Query { down { ...B } } fragment B on Query { hello }", 3),
        ("{ ... on Query { ... { down { hello } } } }", 2),
    ],
)
def test_depth_counts_fields_through_fragments(text, depth):
    assert operations_of(SCHEMA, depth).find(text, name=None)
    with pytest.raises(Refused, match="nested"):
        operations_of(SCHEMA, depth - 1).find(text, name=None)


def operations_of(schema, max_depth=9):
    return Operations(schema, Limits(depth=max_depth), Pool(100_000))
