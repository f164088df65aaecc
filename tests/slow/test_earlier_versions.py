"""
A data folder and a backup of each earlier version open. tests/store/maintenance/make_store.py has created them.

H1 is a row of `docs/behaviours.md`, which a test proves.
"""

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from server.cli.main import main
from server.cli.restore import restore
from server.cli.verify import verify
from server.settings import Settings
from store import keys
from store.ranking.config import HOMES_FIELD
from tests.server.conftest import Live, serving
from tests.servers import until
from tests.store.maintenance import make_store

STORES = Path(make_store.__file__).parent / "stores"
FOLDER = STORES / "0.1.0"
VERSIONS = ("0.1.0", "61f5b97")  # folders of STORES, with what a release or a commit of this repository has written
LOG_IN = """mutation($n: String!, $p: String!) {
  logIn(input: {username: $n, password: $p}) { token userErrors { code } } }"""
TOP = "query($s: DateTime) { articles(order: VOTES, since: $s, first: 100) { nodes { id postedAt } totalCount } }"
FOLLOW = "mutation($g: String!) { followGroup(input: {group: $g}) { userErrors { code } } }"
EVERY = "query($o: ArticleOrder!) { articles(order: $o, first: 100) { nodes { id groups { name } } } }"
HOME = "query($o: ArticleOrder!) { home { articles(order: $o, first: 100) { nodes { id groups { name } } } } }"
SETTINGS = {name: value for name, value in make_store.SETTINGS.items() if name != "partitions"}

pytestmark = pytest.mark.one_server


class Expected(NamedTuple):
    """What an earlier version answered. An answer has the keys viewer (a name or None), query, variables and data."""

    answers: list[dict[str, Any]]
    queries: dict[str, str]  # texts, by name
    tokens: dict[str, str]  # by username


def expected_of(version: str) -> Expected:
    return Expected(**json.loads((STORES / version / "answers.json").read_text()))


def log_in(live: Live, username: str, password: str = "correct horse") -> str | None:
    return live.ask(LOG_IN, n=username, p=password)["data"]["logIn"]["token"]


def assert_answers_are_the_same(
    live: Live, expected: Expected, tokens: dict[str, str], *, has_pins: bool = True
) -> None:
    """
    Some of the queries have cursors that the earlier version returned, also of the order GRAVITY, and of pins: copies
    of listings that clients read page by page, which a backup does not have. Without its pin, a listing has the same
    articles, as nobody voted since, and other cursors.
    """
    for answer in expected.answers:
        viewer, variables = answer["viewer"], answer["variables"]
        reply = live.ask(expected.queries[answer["query"]], viewer and tokens[viewer], **variables)
        if answer["query"] == "articles":
            leave_out_downvoters(answer["data"], reply["data"])
        is_pinned = "p" in variables
        if is_pinned and not has_pins:
            assert reply["extensions"]["expiredPins"]
            assert ids(reply["data"]) == ids(answer["data"]), variables
        else:
            assert reply == {"data": answer["data"]}, variables


def leave_out_downvoters(expected: Any, data: Any) -> None:
    """0.1.0 listed those who voted down among the voters, too."""
    for then, now in zip(expected["articles"]["edges"], data["articles"]["edges"], strict=True):
        if voters := now["node"]["voters"]:
            known = then["node"]["voters"]["nodes"]
            then["node"]["voters"]["nodes"] = [each for each in known if each in voters["nodes"]]
            assert len(voters["nodes"]) <= now["node"]["upvotes"]


def ids(data: Any) -> list[str]:
    return [edge["node"]["id"] for edge in data["articles"]["edges"]]


def assert_listings_since_an_instant_are_exact(live: Live) -> None:
    """In a store of 0.1.0 the numbers of articles do not contain their posting times."""
    nodes = live.ask(TOP)["data"]["articles"]["nodes"]
    assert len(nodes) > 5
    for instant in {node["postedAt"] for node in nodes}:
        later = [node for node in nodes if node["postedAt"] >= instant]
        assert live.ask(TOP, s=instant)["data"]["articles"] == {"nodes": later, "totalCount": len(later)}


def assert_store_can_be_used(live: Live, folder: Path, tokens: dict[str, str]) -> None:
    """The keys of idempotent posts are there, but older than the day in which they count."""
    post = {"t": "article 0", "g": ["show"]}
    with make_store.client(folder) as redis:
        assert len(list(redis.scan_iter("posted:*:alice:*"))) == 4
    new = live.ask(make_store.POST, tokens["alice"], **post)["data"]["post"]
    assert not new["replayed"]
    variables = {"id": new["article"]["id"], "v": "UP"}
    assert live.ask(make_store.VOTE, tokens["bob"], **variables)["data"]["vote"]["userErrors"] == []
    assert log_in(live, "ALICE")
    assert log_in(live, "alice", "wrong horse") is None


def test_links_of_0_1_0_are_indexed_by_reindex(tmp_path, monkeypatch, capsys):
    shutil.copytree(FOLDER / "appendonlydir", tmp_path / "appendonlydir")
    query = '{ articlesByLink(link: "https://example.com/#x", first: 100) { totalCount nodes { link } } }'

    with serving(tmp_path, **SETTINGS) as live:
        before = live.ask(query)
        for name, value in Settings(data_dir=tmp_path, **SETTINGS).environment().items():
            monkeypatch.setenv(name, value)
        assert main(["reindex"]) == 0
        until(lambda: "errors" not in live.ask(query))  # the server learns of it by an event
        after = live.ask(query)["data"]["articlesByLink"]
        every = live.ask("{ articles(first: 100) { totalCount nodes { link } } }")["data"]["articles"]
    assert before["errors"][0]["message"] == "links are not indexed in this store yet: `upvote reindex` does it"
    assert after["totalCount"] == [each["link"] for each in every["nodes"]].count("https://example.com/") > 5
    assert verify(Settings(data_dir=tmp_path, **SETTINGS), repair=False) == 1  # late expiries
    assert not [line for line in capsys.readouterr().out.splitlines() if "link" in line]


def test_order_active_is_added_to_a_store_of_0_1_0_by_reindex(tmp_path, monkeypatch, capsys):
    shutil.copytree(FOLDER / "appendonlydir", tmp_path / "appendonlydir")
    query = "{ active: articles(order: ACTIVE, first: 100) { nodes { id } } }"

    with serving(tmp_path, **SETTINGS) as live:
        before = live.ask(query)
        for name, value in Settings(data_dir=tmp_path, **SETTINGS).environment().items():
            monkeypatch.setenv(name, value)
        assert main(["reindex"]) == 0
        until(lambda: "errors" not in live.ask(query))
        listed = live.ask(query)["data"]["active"]["nodes"]
        newest = live.ask("{ articles(order: TIME, first: 100) { nodes { id } } }")["data"]["articles"]["nodes"]
    assert before["errors"][0]["message"].startswith("ACTIVE is not maintained here; valid orders are SCORE, TIME,")
    assert listed == newest != []
    assert verify(Settings(data_dir=tmp_path, **SETTINGS), repair=False) == 1  # late expiries
    assert not [line for line in capsys.readouterr().out.splitlines() if "active" in line]


@pytest.mark.parametrize("version", VERSIONS)
def test_data_folder_of_an_earlier_version_opens(tmp_path, capsys, version):
    shutil.copytree(STORES / version / "appendonlydir", tmp_path / "appendonlydir")
    expected = expected_of(version)

    assert verify(Settings(data_dir=tmp_path, **SETTINGS), repair=False) == 1
    *findings, _ = capsys.readouterr().out.splitlines()
    for finding in findings:  # expiries are late, as `make_store` has put them off
        assert finding.startswith(("posted:", "commented:")) and " TTL: " in finding
    with serving(tmp_path, **SETTINGS) as live:
        with make_store.client(tmp_path) as redis:
            assert {"pin", "tried", "bucket", "session"} <= {key.split(":")[0] for key in redis.scan_iter()}
        assert_answers_are_the_same(live, expected, expected.tokens)
        assert_listings_since_an_instant_are_exact(live)
        assert_store_can_be_used(live, tmp_path, expected.tokens)


@pytest.mark.parametrize("version", VERSIONS)
def test_homes_of_an_earlier_version_are_complete_soon_after_the_start(tmp_path, capsys, version):  # H1
    shutil.copytree(STORES / version / "appendonlydir", tmp_path / "appendonlydir")
    tokens = expected_of(version).tokens

    with serving(tmp_path, **SETTINGS) as live:
        with make_store.client(tmp_path) as redis:
            until(lambda: redis.hget(keys.store(), HOMES_FIELD) == "1")
            assert list(redis.scan_iter("siteranked:*"))
        assert live.ask(FOLLOW, tokens["alice"], g="show")["data"]["followGroup"]["userErrors"] == []
        for order in ("SCORE", "HOT", "BEST"):
            home = live.ask(HOME, tokens["alice"], o=order)["data"]["home"]["articles"]["nodes"]
            every = live.ask(EVERY, o=order)["data"]["articles"]["nodes"]
            assert home == [each for each in every if {"name": "show"} in each["groups"]] != []
    assert verify(Settings(data_dir=tmp_path, **SETTINGS), repair=False) == 1  # late expiries
    assert not [line for line in capsys.readouterr().out.splitlines() if "siteranked" in line]


@pytest.mark.parametrize("version", VERSIONS)
def test_backup_of_an_earlier_version_is_restored(tmp_path, version):
    settings, expected = Settings(data_dir=tmp_path, **SETTINGS), expected_of(version)

    assert restore(settings, STORES / version / "backup") == 0
    with serving(tmp_path, **SETTINGS) as live:
        by_link = live.ask('{ articlesByLink(link: "https://EXAMPLE.com") { totalCount } }')
        assert by_link["data"]["articlesByLink"]["totalCount"] > 5
        tokens = {name: log_in(live, name) or "" for name in expected.tokens}
        assert_answers_are_the_same(live, expected, tokens, has_pins=False)
        assert_listings_since_an_instant_are_exact(live)
        assert_store_can_be_used(live, tmp_path, tokens)
