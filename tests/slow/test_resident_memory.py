"""The resident memory of a server that renders and searches the texts that cost most, many at once."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.server.conftest import Live, serving
from tests.servers import PATIENCE

REGISTER = 'mutation { register(input: {username: "alice", password: "correct horse"}) { token } }'
POST = "mutation($input: PostInput!) { post(input: $input) { article { id } userErrors { code } } }"
EDIT = "mutation($input: EditArticleInput!) { editArticle(input: $input) { userErrors { code } } }"
SEARCH = "query($words: String!) { search(query: $words, first: 20) { totalCount nodes { __typename } } }"
LENGTH = 9_000  # characters of a text
TEXTS = [
    text[:LENGTH]
    for text in (
        "|" + "a|" * 100 + "\n|" + "-|" * 100 + "\n|" + "b|" * LENGTH,
        "> " * 50 + "x\n" * LENGTH,
        "word " * LENGTH,
        "*a* `b` [c](https://e.example/) " * LENGTH,
    )
]
LATE = (503, 504)  # statuses on a busy machine
MOST_GROWTH = 100_000_000  # bytes: caches, and what threads keep; before they were bounded it was three times as much


@pytest.mark.timeout(300)
def test_memory_stays_when_texts_are_rendered_and_searched_at_once(tmp_path):
    with serving(tmp_path, log_level="error") as live:
        token = live.ask(REGISTER)["data"]["register"]["token"]
        ids = [posted(live, token, number) for number in range(60)]
        before = resident_bytes(live.process.pid)
        with ThreadPoolExecutor(8) as threads:
            for _ in threads.map(lambda number: render_and_search(live, token, ids, number), range(200)):
                pass
        after = resident_bytes(live.process.pid)

    print(f"{before:,} bytes before, {after:,} after")
    assert after - before < MOST_GROWTH, (before, after)


def posted(live: Live, token: str, number: int) -> str:
    given = {"title": f"text {number}", "content": TEXTS[number % len(TEXTS)]}
    payload = live.ask(POST, token, input=given)["data"]["post"]
    assert payload["userErrors"] == []
    return payload["article"]["id"]


def render_and_search(live: Live, token: str, ids: list[str], number: int) -> None:
    """Edit a text, so that it is rendered anew, read it wherever it is rendered, and search."""
    id = ids[number % len(ids)]
    text = f"{number} {TEXTS[number % len(TEXTS)]}"
    assert live.ask(EDIT, token, input={"articleId": id, "content": text})["data"]["editArticle"]["userErrors"] == []
    item = id.partition(":")[2]
    for path in ("atom.xml", "rss.xml", f"hn/v0/item/{item}.json", f"article/{item}"):
        assert httpx.get(f"{live.url}/{path}", timeout=PATIENCE).status_code in (200, *LATE)
    # a phrase of 16 words, the longest that is searched as one, and further words, which make five different queries
    live.ask(SEARCH, words=f'"{"word " * 16}" word x {number % 5}')


def resident_bytes(process: int) -> int:
    return 1024 * int(re.search(r"^VmRSS:\s+(\d+)", Path(f"/proc/{process}/status").read_text(), re.MULTILINE)[1])
