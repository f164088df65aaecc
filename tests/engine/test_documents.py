"""Persisted documents: Apollo's persisted queries, `documentId`, and trusted documents."""

from hashlib import md5, sha256

import httpx
import pytest

from engine import read_trusted_documents
from tests.engine.sample import serving
from tests.engine.transports.test_http import code

HELLO = "query Hello { hello }"
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
    assert after.json() == {"data": {"hello": "hello world"}}


async def test_cached_document_is_found_by_get_and_by_document_id(http):
    await http.post("", json={"query": HELLO, "extensions": persisted(digest(HELLO))})

    by_extension = await http.get(
        "", params={"extensions": f'{{"persistedQuery":{{"version":1,"sha256Hash":"{digest(HELLO)}"}}}}'}
    )
    by_id = await http.get("", params={"documentId": f"sha256:{digest(HELLO)}"})

    assert by_extension.json() == by_id.json() == {"data": {"hello": "hello world"}}


async def test_document_with_another_hash_is_a_bad_request(http):
    response = await http.post("", json={"query": ECHO, "extensions": persisted(digest(HELLO + " "))})

    assert (response.status_code, code(response)) == (400, "BAD_REQUEST")


async def test_invalid_document_is_not_cached(http):
    text = "{ nothing }"
    await http.post("", json={"query": text, "extensions": persisted(digest(text))})

    response = await http.post("", json={"extensions": persisted(digest(text))})

    assert code(response) == "PERSISTED_QUERY_NOT_FOUND"


async def test_status_of_an_unknown_document_depends_on_the_media_type(ask, http):
    response = await http.post("", json={"documentId": "none"}, headers={"accept": "application/graphql-response+json"})

    assert (response.status_code, code(response)) == (400, "PERSISTED_QUERY_NOT_FOUND")


@pytest.fixture(scope="module")
def trusting():
    trusted = {digest(HELLO): HELLO, md5(ECHO.encode()).hexdigest(): ECHO}
    with serving(trusted_documents=trusted, only_trusted=True) as server, httpx.Client(base_url=server.url) as client:
        yield client


@pytest.mark.parametrize(
    "request_body",
    [
        {"documentId": f"sha256:{digest(HELLO)}"},
        {"documentId": digest(HELLO)},
        {"extensions": persisted(digest(HELLO))},
        {"extensions": persisted(digest(HELLO)), "query": HELLO},
        {"query": HELLO},
    ],
)
def test_trusted_document_is_executed(trusting, request_body):
    assert trusting.post("", json=request_body).json() == {"data": {"hello": "hello world"}}


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


@pytest.mark.parametrize("prefix", ["", "sha256:"])
def test_manifests_are_read_with_or_without_a_hash_prefix(tmp_path, prefix):
    file = tmp_path / "persisted-documents.json"
    file.write_text(f'{{"{prefix}{digest(HELLO)}": "{HELLO}"}}')

    assert read_trusted_documents(file) == {digest(HELLO): HELLO}


@pytest.mark.parametrize("content", ["", "[]", '{"a": 1}', "{"])
def test_other_files_are_refused_with_their_name(tmp_path, content):
    file = tmp_path / "persisted-documents.json"
    file.write_text(content)

    with pytest.raises(ValueError, match=r"persisted-documents\.json: not"):
        read_trusted_documents(file)
