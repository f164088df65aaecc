"""
The settings of trusted documents and origins, by the environment and by the command line, in every worker.

Trusted documents are the queries of a site's own pages, which a file lists by their SHA-256. With `only_trusted`, no
others are executed.
"""

import json

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from server.reader import STATIC
from tests.server.commands import run
from tests.server.conftest import serving
from tests.support.logs import digest

HELLO = "query Hello { __typename }"
# requests that name the document: with the prefix of the hash and without it, and as Apollo's clients do
TRUSTED = {"documentId": f"sha256:{digest(HELLO)}"}
BARE = {"documentId": digest(HELLO)}
PERSISTED = {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": f"sha256:{digest(HELLO)}"}}}
OTHER = {"query": "{ __typename }"}
DOCUMENTS = STATIC / "documents.json"
FRIEND, STRANGER = "https://friend.example", "https://stranger.example"


@pytest.fixture(params=["", "sha256:"])
def documents(tmp_path, request):
    """A manifest whose keys have a prefix or none."""
    file = tmp_path / "persisted-documents.json"
    file.write_text(json.dumps({request.param + digest(HELLO): HELLO}))
    return file


def asked(live, request):
    """The data of an answer, or the code of its error."""
    answer = live.post(request).json()
    return answer.get("data") or answer["errors"][0]["extensions"]["code"]


@pytest.mark.slow
def test_trusted_documents_of_the_command_line_reach_every_worker(tmp_path, documents):
    with serving(tmp_path / "data", "--trusted-documents", documents, "--only-trusted", workers=2) as live:
        trusted = [asked(live, TRUSTED) for _ in range(10)]
        other = [asked(live, OTHER) for _ in range(10)]

    assert trusted == [{"__typename": "Query"}] * 10
    assert other == ["QUERY_NOT_IN_SAFELIST"] * 10


def test_documents_of_the_reader_are_trusted_where_it_is_on(tmp_path, documents):
    sent = next(text for text in json.loads(DOCUMENTS.read_text()).values() if text.startswith("query UnseenCount "))
    with serving(tmp_path / "data", trusted_documents=documents, only_trusted="on") as live:
        answers = [asked(live, request) for request in ({"query": sent}, TRUSTED, OTHER)]
    with serving(tmp_path / "data", trusted_documents=documents, only_trusted="on", reader="off") as live:
        answers += [asked(live, {"query": sent})]

    refused = "QUERY_NOT_IN_SAFELIST"
    assert answers == [{"inbox": None}, {"__typename": "Query"}, refused, refused]


def test_trusted_documents_of_the_environment_are_accepted(tmp_path, documents):
    with serving(tmp_path / "data", trusted_documents=documents) as live:
        answers = [asked(live, request) for request in (TRUSTED, BARE, PERSISTED, OTHER)]

    assert answers == [{"__typename": "Query"}] * 4


@pytest.mark.parametrize(
    ("content", "reason"), [(None, "No such file or directory"), ("[]", "not an object of documents by their hashes")]
)
def test_file_that_cannot_be_read_is_named_and_stops_the_start(tmp_path, content, reason):
    file = tmp_path / "persisted-documents.json"
    if content is not None:
        file.write_text(content)

    started = run("serve", "--trusted-documents", str(file), port=0, data_dir=tmp_path / "data")

    assert (started.returncode, started.stdout) == (2, "")
    assert started.stderr == f"upvote: UPVOTE_TRUSTED_DOCUMENTS={file}: {reason}\n"


def test_only_trusted_without_any_documents_stops_the_start(tmp_path):
    started = run("serve", "--only-trusted", port=0, data_dir=tmp_path, reader="off")

    assert (started.returncode, started.stdout) == (2, "")
    assert started.stderr == "upvote: UPVOTE_ONLY_TRUSTED=on: UPVOTE_TRUSTED_DOCUMENTS names no file\n"


def test_pages_of_allowed_origins_may_open_a_socket(tmp_path):
    with serving(tmp_path, allowed_origins=f" https://another.example, {FRIEND}") as live:
        for origin in (FRIEND, live.url):
            with socket(live, origin):
                pass
        with pytest.raises(InvalidStatus, match="HTTP 403"), socket(live, STRANGER):
            pass


def socket(live, origin):
    return connect(live.url.replace("http", "ws") + "/graphql", subprotocols=["graphql-transport-ws"], origin=origin)


@pytest.mark.parametrize("origins", ["friend.example", "https://friend.example/", "https://a.example b.example"])
def test_origin_that_no_browser_sends_stops_the_start(tmp_path, origins):
    started = run("serve", port=0, data_dir=tmp_path, allowed_origins=origins)

    assert started.returncode == 2
    assert started.stderr.startswith(f"upvote: UPVOTE_ALLOWED_ORIGINS={origins}: ")
