"""The command `upvote demo`, which serves a small sample from a temporary store."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from server.cli.demo import SAMPLE, SAMPLE_COMMENTS
from server.cli.hacker_news import arranged
from server.cli.story_file import read, with_groups
from store.site import unix_milliseconds
from tests.server.commands import environment, piped
from tests.server.conftest import POST, REGISTER, Live

PRINTED_LINES = 6  # at the start

FIELDS = """{
  articles(first: 100, order: TIME) {
    totalCount
    nodes { title upvotes commentCount isVotingOpen voters(first: 1) { totalCount } }
  }
  frontPage { totalCount }
  groups { nodes { name } }
}"""


THREAD = """{
  articles(first: 1, order: TIME) {
    nodes { commentCount thread(first: 100) { edges { node { depth content votes } } } }
  }
}"""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """The demo, for tests that only read."""
    with running_demo(tmp_path_factory.mktemp("demo")) as demo:
        yield demo


@pytest.fixture
def own_demo(tmp_path: Path) -> Iterator[Live]:
    with running_demo(tmp_path) as demo:
        yield demo


@contextmanager
def running_demo(folder: Path) -> Iterator[Live]:
    variables = environment(port=0, data_dir=folder / "data") | {"TMPDIR": str(folder)}
    process, stdout = piped(["demo"], variables)
    printed = [stdout.readline().rstrip("\n") for _ in range(PRINTED_LINES)]
    try:
        url = printed[2].split()[-1].rstrip("/")  # two lines of imports come before that of the address
        httpx.get(f"{url}/healthz", timeout=60).raise_for_status()
        yield Live(process, url, printed, folder)
    finally:
        process.terminate()
        process.wait()
        stdout.close()


def test_demo_serves_the_sample_with_voting_open(demo):
    answer = demo.ask(FIELDS)["data"]
    opened = [article for article in answer["articles"]["nodes"] if article["isVotingOpen"]]

    assert demo.printed[0].startswith("imported 60, already known 0, bad lines 0, ")
    assert answer["articles"]["totalCount"] == 60
    assert answer["frontPage"]["totalCount"] == 8
    assert answer["groups"]["nodes"] == [{"name": "ask"}, {"name": "notes-example"}, {"name": "show"}]
    assert opened == answer["articles"]["nodes"][: len(opened)]
    assert 0 < len(opened) < 60
    assert all(article["voters"]["totalCount"] == article["upvotes"] for article in opened)


def test_demo_has_conversations(demo):
    """The explorer's examples ask for the newest article."""
    answer = demo.ask(THREAD)["data"]["articles"]["nodes"][0]
    places = [edge["node"] for edge in answer["thread"]["edges"]]

    assert demo.printed[1].startswith("comments imported 37, already known 0, without what they answer 0; ")
    assert (answer["commentCount"], len(places)) == (15, 16)  # one place is that of a deleted comment
    assert {place["depth"] for place in places} == {0, 1, 2, 3, 4}
    assert [place["content"] is None for place in places].count(True) == 1
    assert any("```" in (place["content"] or "") for place in places)


def test_demo_answers_pages_of_a_development_server(demo):
    for origin in ("http://localhost:5173", "http://127.0.0.1:8080"):
        answer = demo.post({"query": "{ __typename }"}, {"Origin": origin})
        assert answer.headers["access-control-allow-origin"] == origin

    answer = demo.post({"query": "{ __typename }"}, {"Origin": "https://evil.example"})
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.slow
def test_demo_takes_posts_and_votes(own_demo):
    token = own_demo.ask(REGISTER)["data"]["register"]["token"]

    assert own_demo.ask(POST, token)["data"]["post"]["article"]["id"].startswith("article:")


@pytest.mark.parametrize(("by", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_demo_leaves_nothing_behind(own_demo, tmp_path, by, code):
    assert own_demo.stop(by) == code
    assert list(tmp_path.iterdir()) == []


def test_sample_has_no_bad_line_and_some_of_everything():
    stories = with_groups(read(SAMPLE, unix_milliseconds()))

    assert len(stories) == 60
    assert {group for story in stories for group in story.groups} == {"ask", "show", "notes-example"}
    assert all(not story.link or ".example/" in story.link for story in stories)


def test_sample_comments_are_about_the_sample():
    partitions = {story.id: 0 for story in read(SAMPLE, unix_milliseconds())}
    comments = list(read(SAMPLE_COMMENTS, unix_milliseconds()))
    conversations = arranged(comments, partitions=partitions, skipped=())

    assert len(conversations.placed) == 37
    assert (len(conversations.skipped), conversations.orphans) == (1, [])
