"""A server archives by itself: old articles leave Redis for the SQL database. It answers as before."""

import time
from pathlib import Path
from typing import Any

from server.cli.import_stories import ImportOptions, import_stories
from server.settings import Settings
from tests.server.conftest import HEADER, Live, line, redis_of, serving
from tests.servers import PATIENCE

PAGE = """query($after: String) { articles(order: TIME, first: 20, after: $after) { totalCount
  pageInfo { hasNextPage endCursor } nodes { id title votes groups { name } poster { karma } standing { rank } } } }"""


def test_a_server_archives_and_answers_as_before(tmp_path: Path) -> None:
    stories = tmp_path / "stories.csv"
    stories.write_text(HEADER + "".join(map(line, range(100))))
    import_stories(Settings(data_dir=tmp_path / "data"), [stories], ImportOptions())
    with serving(tmp_path / "data", hot_articles=10**6) as live:
        before = everything(live)
    with serving(tmp_path / "data", hot_articles=30) as live:
        with redis_of(tmp_path / "data") as redis:
            deadline = time.monotonic() + 60
            while redis.zcard("time:{0}") > 30:
                assert time.monotonic() < deadline, "articles beyond the limit leave within a minute"
                time.sleep(0.2)
        assert everything(live) == before
    with serving(tmp_path / "data", hot_articles=30, database_url="none") as live:
        first = live.ask(PAGE)["data"]["articles"]
        rest = live.ask(PAGE, after=first["pageInfo"]["endCursor"])

        assert first["totalCount"] == 100
        assert [error["extensions"]["code"] for error in rest["errors"]] == ["UNAVAILABLE"]


def everything(live: Live) -> list[dict[str, Any]]:
    """All articles, read page by page."""
    found: list[dict[str, Any]] = []
    page: dict[str, Any] = {"pageInfo": {"hasNextPage": True, "endCursor": None}}
    deadline = time.monotonic() + PATIENCE
    while page["pageInfo"]["hasNextPage"] and time.monotonic() < deadline:
        page = live.ask(PAGE, after=page["pageInfo"]["endCursor"])["data"]["articles"]
        found += page["nodes"]
    return found
