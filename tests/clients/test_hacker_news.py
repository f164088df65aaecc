"""
Clients of Hacker News' API, two from PyPI and one from npm, read what a site serves in the shape of that API. Nothing
is changed in them but the address.

The site has the default limits, and 500 stories with comments, imported in the shape in which the original gives them.
"""

import json
import re
from pathlib import Path
from time import sleep

import httpx
import pytest

from server.cli.import_stories import ImportOptions, import_stories
from server.managed_valkey import server
from server.settings import Settings
from tests import programs
from tests.clients.conftest import ADDRESS, json_of
from tests.server.conftest import serving

SOURCES = Path(__file__).with_name("hacker_news")
PAGE = Path(__file__).parents[2] / "docs" / "hacker-news.md"
STORIES, ANSWERS = 500, 20  # as many as a list has; answers to every tenth story
FIRST_TIME = 1_470_000_000  # unix seconds
TITLES = {0: "Ask HN: Question", 1: "Show HN: Work"}  # by the last digit of the number

MORE = "&amp; &lt;more&gt;"
# How many top stories each client reads, with as many connections at once as it opens by default.
MOST = {"haxor": STORIES, "hn-sdk": STORIES, "node-hn-api": 100}
# Answers with equal votes are shown newest first; the second one answers the first.
THREAD = [(f"user-{each}", f"<p>Answer <em>{each}</em></p>\n") for each in [*range(ANSWERS - 1, 1, -1), 0, 1]]
ARTICLES = """query ($page: Int!) {
  articles(order: TIME, first: 100, page: $page) { nodes { id commentCount } } }"""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]  # the first run on a machine installs the clients


def items():
    """Stories, a minute apart; every tenth has answers, the first of which has an answer itself."""
    for number in range(1, STORIES + 1):
        time = FIRST_TIME + 60 * number
        title = f"{TITLES.get(number % 10, 'News')} {number} & <more>"
        text = {"text": "Why <i>not</i>?"} if number % 10 == 0 else {"url": f"https://example.com/{number}"}
        yield {
            "id": number,
            "type": "story",
            "by": f"user-{number % 30}",
            "time": time,
            "title": title,
            "score": 5,
        } | text
        for answer in range(ANSWERS if number % 10 == 5 else 0):
            id = 1_000 * number + answer
            parent = number if answer != 1 else id - 1
            kept = {"parent": parent, "by": f"user-{answer}", "time": time + answer, "text": f"Answer <i>{answer}</i>"}
            yield {"id": id, "type": "comment"} | kept


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hacker-news")
    file = folder / "items.jsonl"
    file.write_text("\n".join(map(json.dumps, items())))
    with server.running(folder / "valkey") as url:
        import_stories(Settings(redis_url=url), [file], ImportOptions(shift_to_now=True))
        with serving(folder, redis_url=url, rate_limits="on") as live:
            yield live


@pytest.fixture(scope="module")
def articles(site):
    """All articles, newest first, as clients of the contract read them."""
    pages = [site.ask(ARTICLES, page=page)["data"]["articles"]["nodes"] for page in range(1, STORIES // 100 + 1)]
    return [node for page in pages for node in page]


@pytest.mark.parametrize("client", MOST)
def test_client_reads_lists_a_thread_a_user_and_what_is_new(site, articles, client):
    discussed = next(node for node in articles if node["commentCount"])
    story, address = number(discussed), f"{site.url}/hn/v0/"
    wait_for_points(site)

    read = json_of(*programs_of()[client], address, str(story), "user-5", cwd=SOURCES)

    numbers, updates = [number(node) for node in articles], httpx.get(f"{address}updates.json").json()
    assert len(set(read["top"])) == len(read["top"]) == MOST[client]
    assert set(read["top"]) <= set(numbers)
    assert read["new"] == [f"Ask HN: Question {STORIES} {MORE}", f"News 499 {MORE}", f"News 498 {MORE}"]
    assert sorted(read["ask"]) == [f"Ask HN: Question {each} {MORE}" for each in (480, 490, 500)]
    assert sorted(read["show"]) == [f"Show HN: Work {each} {MORE}" for each in (471, 481, 491)]
    assert read["jobs"] == []
    assert read["story"] == [f"News 495 {MORE}", "https://example.com/495", 5, "user-15", ANSWERS]
    assert [(by, text) for by, text, _ in read["thread"]] == THREAD
    assert [parent for *_, parent in read["thread"][:-1]] == [story] * (ANSWERS - 1)
    assert read["user"] == ["user-5", karma(site, "user-5"), 17, STORIES // 10]  # 17 stories, and so many comments
    assert set(numbers[:20]) < set(updates["items"])
    assert "user-19" in updates["profiles"]
    if client != "node-hn-api":  # it does not read these
        assert read["newest"] == numbers[0]
        assert read["updates"] == [updates["items"], updates["profiles"]]
    if client == "haxor":  # the other 9 of the last 10 numbers are null
        assert read["last"] == [numbers[0]]


def test_page_shows_what_the_programs_do():
    blocks = re.findall(r"```(?:python|ts)\n(.*?)```", PAGE.read_text(), re.DOTALL)
    shown = [
        block.replace(f'"{ADDRESS}/hn/v0/"', "address").replace(f'"{ADDRESS}/hn"', 'address.removesuffix("/v0/")')
        for block in blocks
    ]
    sources = [(SOURCES / name).read_text().splitlines() for name in ("haxor_story.py", "hn_sdk_story.py", "story.js")]

    assert len(shown) == len(sources)
    for block, lines in zip(shown, sources, strict=True):
        assert set(block.splitlines()) <= {*lines, ""}


def programs_of():
    """The command of each client's program. Installs them if their locks have changed."""
    binaries, _ = programs.python_environment(SOURCES), programs.node_modules(SOURCES)
    return {
        "haxor": (binaries / "python", "haxor_story.py"),
        "hn-sdk": (binaries / "python", "hn_sdk_story.py"),
        "node-hn-api": (programs.node(), "story.js"),
    }


def number(node):
    return int(node["id"].partition(":")[2])


def karma(site, username):
    return site.ask("query ($name: String!) { user(username: $name) { karma } }", name=username)["data"]["user"][
        "karma"
    ]


def wait_for_points(site):
    """Wait until the address has nearly all of its points again."""
    while True:
        points = site.ask("{ rateLimit { remaining limit } }")["data"]["rateLimit"]
        if points["remaining"] > 0.95 * points["limit"]:
            return
        sleep(0.2)
